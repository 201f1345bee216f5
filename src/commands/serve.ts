/** `item-store serve`. @module */

import { needAuth } from './need-auth.js'
import { readSettings } from './settings.js'
import { start } from './start.js'

/** In bytes (RFC 7518 §3.2). */
const recommendedSecretLength = 32

/** Serves until it is told to stop. */
export async function run(args: string[]): Promise<void> {
  const config = readSettings('serve', args)
  needAuth()
  const { log } = await start(config, {
    isReadable: process.stdout.isTTY,
    requestLogLevel: 'debug',
  })
  const length = Buffer.byteLength(process.env.JWT_SECRET ?? '')
  if (length < recommendedSecretLength) {
    log.warn(`JWT_SECRET has ${length} bytes; use at least ${recommendedSecretLength}`)
  }
}
