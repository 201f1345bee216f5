/** Reads a command's flags, and finds the known name closest to a mistyped one. @module */

import { type ParseArgsConfig, parseArgs } from 'node:util'
import { messageOf, UsageError } from './usage-error.js'

type Options = NonNullable<ParseArgsConfig['options']>

const withValue = { type: 'string' } as const
const isSet = { type: 'boolean' } as const
export const devFlags = {
  ...{ seed: withValue, delay: withValue, failures: withValue },
  ...{ json: isSet, 'stdin-quit': isSet },
}
export const devDefaults = { host: '127.0.0.1', console: 'on', mcp: 'on' } as const

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
    const [, unknown = ''] = /^Unknown option '--(.*)'$/.exec(reason) ?? []
    const meant = nearest(unknown, Object.keys(options))
    const guess = meant === undefined ? '' : `; did you mean --${meant}?`
    throw new UsageError(
      Object.hasOwn(devFlags, unknown)
        ? `--${unknown} is an option of dev, not of ${command}; see item-store dev --help`
        : `${reason}${guess}; see item-store ${command} --help`,
    )
  }
}

/** Returns the known name that's the fewest typos away from `name`; `undefined` if none is similar. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const counts = [0, 1, 2].filter((count) => count <= name.length / 3)
  return counts.map((count) => known.find((each) => isWithin(count, name, each))).find(Boolean)
}

/** True if `a` and `b` differ by at most `mistakes` missing, added, replaced or swapped characters. */
function isWithin(mistakes: number, a: string, b: string): boolean {
  if (a === b) return true
  if (a[0] === b[0]) return isWithin(mistakes, a.slice(1), b.slice(1))
  if (mistakes === 0) return false
  const isSwapped = a[0] === b[1] && a[1] === b[0]
  return (
    isWithin(mistakes - 1, a.slice(1), b) ||
    isWithin(mistakes - 1, a, b.slice(1)) ||
    isWithin(mistakes - 1, a.slice(1), b.slice(1)) ||
    (isSwapped && isWithin(mistakes - 1, a.slice(2), b.slice(2)))
  )
}
