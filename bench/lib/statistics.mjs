/** Medians, and how far measurements lie from them. */

/** The middle number, or the mean of the two in the middle. */
export function median(numbers) {
  return quantile(numbers, 0.5)
}

/** Half of the numbers lie between the first and the second of these two, the quartiles. */
export function quartiles(numbers) {
  return [quantile(numbers, 0.25), quantile(numbers, 0.75)]
}

/** Interpolates linearly between the two nearest numbers. */
function quantile(numbers, share) {
  const sorted = numbers.toSorted((one, other) => one - other)
  const at = (sorted.length - 1) * share
  const [below, above] = [sorted[Math.floor(at)], sorted[Math.ceil(at)]]
  return below + (above - below) * (at % 1)
}
