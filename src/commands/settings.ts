/** The settings of the commands. @module */

import type { Config } from '../config.js'
import { readConfig } from '../read-config.js'
import { loadEnvFile } from './env-file.js'

/**
 * Reads the settings from flags, environment and the file `.env`.
 * @param values values of flags, by flag name.
 * @throws {UsageError}
 */
export function readSettings(values: Record<string, unknown>): Config {
  const fromFile = loadEnvFile()
  return readConfig(values, process.env, fromFile)
}
