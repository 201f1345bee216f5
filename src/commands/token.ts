/** `item-store token`. @module */

import { signToken } from '../auth/sign.js'
import { loadEnvFile } from '../config/env-file.js'
import { readArguments } from '../config/flags.js'
import { parseLifetime } from '../config/kinds.js'
import { UsageError } from '../config/usage-error.js'
import { requireSecret } from './secret.js'

/** A token signed with `JWT_SECRET`. */
export async function run(args: string[]): Promise<string> {
  const options = { sub: { type: 'string' }, expires: { type: 'string', default: '1h' } } as const
  const { sub, expires } = readArguments('token', args, options).values
  if (typeof sub !== 'string' || sub === '') {
    throw new UsageError('--sub is missing; name the caller, for example --sub alice')
  }
  const lifetime = parseLifetime(String(expires), '--expires')
  loadEnvFile()
  requireSecret()
  return await signToken(sub, lifetime)
}
