/** `item-store serve`. @module */

import { flags } from '../config.js'
import { readFlags } from './flags.js'
import { requireAuth } from './require-auth.js'
import { readSettings } from './settings.js'
import { start } from './start.js'

/** In bytes (RFC 7518 §3.2). */
const recommendedSecretLength = 32

/** Serves until a signal stops it. */
export async function run(args: string[]): Promise<void> {
  const config = readSettings(readFlags('serve', args, flags))
  requireAuth()
  const { log } = await start(config, {
    isReadable: process.stdout.isTTY,
    requestLogLevel: 'debug',
  })
  const length = Buffer.byteLength(process.env.JWT_SECRET ?? '')
  if (length < recommendedSecretLength) {
    log.warn(
      `JWT_SECRET has only ${length} bytes; at least ${recommendedSecretLength} are recommended`,
    )
  }
}
