/** `item-store token`. @module */

import { parseLifetime } from '../auth/lifetime.js'
import { signToken } from '../auth/sign.js'
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
  const lifetime = parseLifetime(String(expires), '--expires')
  loadEnvFile()
  requireAuth()
  print(`${await signToken(sub, lifetime)}\n`)
}
