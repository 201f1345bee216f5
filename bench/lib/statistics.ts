/** Computes medians and other quantiles. */

export function median(numbers: number[]) {
  return quantile(numbers, 0.5)
}

/** Returns a quantile, interpolated between neighbouring numbers. @param share fraction from 0 to 1 */
export function quantile(numbers: number[], share: number) {
  const sorted = numbers.toSorted((one, other) => one - other)
  const at = (sorted.length - 1) * share
  const [below = Number.NaN, above = Number.NaN] = [sorted[Math.floor(at)], sorted[Math.ceil(at)]]
  return below + (above - below) * (at % 1)
}
