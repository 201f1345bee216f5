/** Guesses which known name was meant by one that is not known. @module */

/** @returns the known name that the fewest typing mistakes make of this one; `undefined` if none is near. */
export function nearest(name: string, known: Iterable<string>): string | undefined {
  let best: string | undefined
  let fewest = Math.min(2, Math.floor(name.length / 3)) + 1
  for (const each of known) {
    const count = mistakes(name, each)
    if (count < fewest) [best, fewest] = [each, count]
  }
  return best
}

/**
 * How many characters were left out, added, mistaken, or swapped with the next: the optimal string alignment
 * distance.
 */
function mistakes(a: string, b: string): number {
  // One row for each character of `a`: only the two before it are needed.
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, length) => length)
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const at = (line: number[], place: number) => line[place] ?? Number.POSITIVE_INFINITY
      const mistaken = at(last, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const swapped = isSwapped ? at(beforeLast, j - 2) + 1 : Number.POSITIVE_INFINITY
      row.push(Math.min(at(last, j) + 1, at(row, j - 1) + 1, mistaken, swapped))
    }
    ;[beforeLast, last] = [last, row]
  }
  return last[b.length] ?? 0
}
