/** `item-store serve`. @module */

import type { Logger } from 'pino'
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
  const options = { isReadable: process.stdout.isTTY, requestLogLevel: 'debug' } as const
  if (config.workers === 1) {
    const { log } = await start(config, options)
    warnOfShortSecret(log)
  } else {
    const { startWorkers } = await import('./workers.js')
    const log = await startWorkers(config, options)
    if (log !== undefined) warnOfShortSecret(log)
  }
}

function warnOfShortSecret(log: Logger): void {
  const length = Buffer.byteLength(process.env.JWT_SECRET ?? '')
  if (length < recommendedSecretLength) {
    log.warn(
      `JWT_SECRET has only ${length} bytes; at least ${recommendedSecretLength} are recommended`,
    )
  }
}
