/** The flags of a command. @module */

import { type ParseArgsConfig, parseArgs } from 'node:util'
import { nearest } from './nearest.js'
import { messageOf } from './thrown.js'
import { UsageError } from './usage-error.js'

type Options = NonNullable<ParseArgsConfig['options']>

/** The flags of `dev` that are not settings. */
export const devFlags = {
  seed: { type: 'string' },
  delay: { type: 'string' },
  failures: { type: 'string' },
} as const

/**
 * Reads the flags of a command, and what is not a flag if that is allowed.
 * @throws {UsageError} for an unknown flag, one without its value, or what may not be there.
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
