/** `item-store serve`. @module */

import { environmentSigning } from '../auth/secret.js'
import { readArguments } from '../config/flags.js'
import { readSettings, unknownNameWarnings } from '../config/read-config.js'
import { flags } from '../config/settings.js'
import { start } from '../process/start.js'
import {
  logSecretFile,
  missingSecretError,
  refuseTwoSecrets,
  shortSecretWarning,
} from './secret.js'

/** Serves until a signal stops it; without a usable secret too, as a service that is unhealthy (spec §5.5). */
export async function run(args: string[]): Promise<undefined> {
  const config = readSettings(readArguments('serve', args, flags).values)
  const isReadable = process.stdout.isTTY
  const options = { isReadable, requestLogLevel: 'debug', signing: environmentSigning } as const
  refuseTwoSecrets()
  const error = missingSecretError() // reads the file of secrets, if there is one, before any request needs it
  const { log } = await start(config, options)
  logSecretFile(log)
  if (error !== undefined) log.error(error)
  for (const warning of [shortSecretWarning(), ...unknownNameWarnings()]) {
    if (warning !== undefined) log.warn(warning)
  }
}
