/** `item-store token` and `item-store openapi`, which print one text each. @module */

import { signToken } from '../auth/secret.js'
import { loadEnvFile } from '../config/env-file.js'
import { readArguments } from '../config/flags.js'
import { parseLifetime } from '../config/kinds.js'
import { version } from '../config/package.js'
import { UsageError } from '../config/usage-error.js'
import { requireSecret } from './secret.js'

/** Returns a token signed with `JWT_SECRET`. */
export async function token(args: string[]): Promise<string> {
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

/** Returns the interface as an OpenAPI document, for a service that keeps its items in process memory. */
export async function openapi(args: string[]): Promise<string> {
  readArguments('openapi', args, {})
  const { openApiDocument } = await import('../interface/openapi.js')
  return JSON.stringify(openApiDocument(version, { isSnapshot: true, isInOrder: true }), null, 2)
}
