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

/** What a command is given. */
interface Arguments {
  /** The values of its flags. */
  readonly values: Record<string, unknown>
  /** What is not a flag. */
  readonly positionals: string[]
}

/**
 * Reads the flags of a command.
 * @throws {UsageError} for an unknown flag, one without its value, or what is not a flag.
 */
export function readFlags(
  command: string,
  args: string[],
  options: Options,
): Record<string, unknown> {
  return readArguments(command, args, options, false).values
}

/**
 * Reads the arguments of a command.
 * @throws {UsageError} for an unknown flag, or one without its value.
 */
export function readArguments(
  command: string,
  args: string[],
  options: Options,
  allowPositionals = true,
): Arguments {
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
