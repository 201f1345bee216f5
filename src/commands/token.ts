/** `item-store token`. @module */

import { signToken } from '../auth/sign.js'
import { parseDuration } from '../units.js'
import { UsageError } from '../usage-error.js'
import { loadEnvFile } from './env-file.js'
import { readFlags } from './flags.js'
import { print } from './print.js'
import { requireAuth } from './require-auth.js'

/** Prints a token signed with `JWT_SECRET`. */
export async function run(args: string[]): Promise<void> {
  const { sub, expires } = readFlags('token', args, {
    sub: { type: 'string' },
    expires: { type: 'string', default: '1h' },
  })
  if (typeof sub !== 'string' || sub === '') {
    throw new UsageError('--sub is missing; name the caller, for example --sub alice')
  }
  const lifetime = secondsOf(String(expires))
  loadEnvFile()
  requireAuth()
  print(`${await signToken(sub, lifetime)}\n`)
}

function secondsOf(expires: string): number {
  const seconds = (parseDuration(expires) ?? 0) / 1000
  if (Number.isInteger(seconds) && seconds > 0) return seconds
  throw new UsageError(
    `--expires is ${JSON.stringify(expires)}; expected a time such as 90s, 15m, 1h or 7d`,
  )
}
