/** Access to the server being measured: the port, the secret that signs tokens, and valid tokens. */

import { randomBytes, randomUUID } from 'node:crypto'
import { mintToken, validClaims } from '../../test/conformance/tokens.js'
import { freePort } from '../../test/support/process.js'

export async function newAccess() {
  const secret = randomBytes(32).toString('base64url')
  const headers = { Authorization: `Bearer ${newToken(secret)}` }
  return { port: await freePort(), secret, headers }
}

/** Returns a new, unique token, which is valid for an hour. */
export function newToken(secret: string) {
  return mintToken({ ...validClaims(), sub: randomUUID() }, { secret })
}
