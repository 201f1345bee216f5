/** The settings of the commands that serve. @module */

import { type Config, flags, readConfig } from '../config.js'
import { loadEnvFile } from './env-file.js'
import { readFlags } from './flags.js'

/**
 * Reads the settings from flags, environment and the file `.env`.
 * @throws {UsageError}
 */
export function readSettings(command: string, args: string[]): Config {
  const values = readFlags(command, args, flags)
  const fromFile = loadEnvFile()
  return readConfig(values, process.env, fromFile)
}
