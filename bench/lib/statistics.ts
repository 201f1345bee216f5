/** Medians and other quantiles. */

/** The middle number, or the mean of the two in the middle. */
export function median(numbers: number[]) {
  return quantile(numbers, 0.5)
}

/** The number that this share of the numbers is below, interpolated between the two nearest ones. */
export function quantile(numbers: number[], share: number) {
  const sorted = numbers.toSorted((one, other) => one - other)
  const at = (sorted.length - 1) * share
  const [below = Number.NaN, above = Number.NaN] = [sorted[Math.floor(at)], sorted[Math.ceil(at)]]
  return below + (above - below) * (at % 1)
}
