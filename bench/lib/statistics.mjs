/** Medians and other quantiles. */

/**
 * The middle number, or the mean of the two in the middle.
 * @param {number[]} numbers
 */
export function median(numbers) {
  return quantile(numbers, 0.5)
}

/**
 * The number that this share of the numbers is below, interpolated between the two nearest ones.
 * @param {number[]} numbers
 * @param {number} share
 */
export function quantile(numbers, share) {
  const sorted = numbers.toSorted((one, other) => one - other)
  const at = (sorted.length - 1) * share
  const [below = Number.NaN, above = Number.NaN] = [sorted[Math.floor(at)], sorted[Math.ceil(at)]]
  return below + (above - below) * (at % 1)
}
