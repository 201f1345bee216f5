/** Runs the command `item-store serve`. @module */

import { environmentSigning } from '../auth/secret.js'
import { readArguments } from '../config/flags.js'
import { readConfig, settingWarnings } from '../config/read-config.js'
import { flags } from '../config/settings.js'
import { start } from '../process/start.js'
import { loadEnvironment, logSecrets, missingSecretError } from './secret.js'

export async function serve(args: string[]): Promise<undefined> {
  const { values } = readArguments('serve', args, flags)
  const config = readConfig(values, undefined, await loadEnvironment())
  const isReadable = process.stdout.isTTY
  const options = { isReadable, requestLogLevel: 'debug', signing: environmentSigning } as const
  const error = missingSecretError()
  const { log } = await start(config, options)
  if (error !== undefined) log.error(error)
  logSecrets(log)
  for (const warning of settingWarnings(config.port)) log.warn(warning)
}
