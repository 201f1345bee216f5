/** Reads the flags of a command, and guesses the known name behind a mistyped one. @module */

import { type ParseArgsConfig, parseArgs } from 'node:util'
import { messageOf, UsageError } from './usage-error.js'

type Options = NonNullable<ParseArgsConfig['options']>

/** The flags of `dev` that are not settings. */
export const devFlags = {
  seed: { type: 'string' },
  delay: { type: 'string' },
  failures: { type: 'string' },
} as const

/**
 * Reads the flags of a command, and its positional arguments if they are allowed.
 * @throws {UsageError} for an unknown flag, a flag without its value, or an argument that is not allowed.
 */
export function readArguments(
  command: string,
  args: string[],
  options: Options,
  allowPositionals = false,
): { values: Record<string, unknown>; positionals: string[] } {
  try {
    return parseArgs({ args, options, allowPositionals })
  } catch (error) {
    const [reason = ''] = messageOf(error).split(/\.\s/, 1)
    const [, unknown] = /^Unknown option '--(.*)'$/.exec(reason) ?? []
    throw new UsageError(
      unknown === undefined
        ? `${reason}; see item-store ${command} --help`
        : unknownFlag(command, unknown, options),
    )
  }
}

function unknownFlag(command: string, flag: string, options: Options): string {
  if (Object.hasOwn(devFlags, flag)) {
    return `--${flag} is an option of dev, not of ${command}; see item-store dev --help`
  }
  const meant = nearest(flag, Object.keys(options))
  const guess = meant === undefined ? '' : `; did you mean --${meant}?`
  return `Unknown option '--${flag}'${guess}; see item-store ${command} --help`
}

/** Returns the known name that differs by the fewest typing mistakes; `undefined` if none is near. */
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
 * Counts characters that were left out, added, mistaken, or swapped with the next: the optimal string alignment
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
