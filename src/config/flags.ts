/** The flags of a command. @module */

import { type ParseArgsConfig, parseArgs } from 'node:util'
import { messageOf } from './thrown.js'
import { UsageError } from './usage-error.js'

/**
 * Reads the flags of a command.
 * @throws {UsageError} for an unknown flag, or one without its value.
 */
export function readFlags(
  command: string,
  args: string[],
  options: NonNullable<ParseArgsConfig['options']>,
): Record<string, unknown> {
  try {
    return parseArgs({ args, options }).values
  } catch (error) {
    const [reason] = messageOf(error).split(/\.\s/, 1)
    throw new UsageError(`${reason}; see item-store ${command} --help`)
  }
}
