/** Access to a measured server: its port, the secret for its tokens, and valid tokens. */

import { randomBytes } from 'node:crypto'
import { inSeconds, mintToken } from '../../test/conformance/tokens.js'
import { freePort } from '../../test/support/process.js'

const tokenLifetime = 24 * 60 * 60 // seconds; longer than any run

/** Returns a free port and a new secret for a server, and request headers with a valid token. */
export async function newAccess() {
  const secret = randomBytes(32).toString('base64url')
  const headers = { Authorization: `Bearer ${signToken(secret, 'bench')}` }
  return { port: await freePort(), secret, headers }
}

/** Returns an access token that is valid until the end of the run. */
export function signToken(secret: string, sub: string) {
  return mintToken({ sub, exp: inSeconds(tokenLifetime), iat: inSeconds(0) }, { secret })
}
