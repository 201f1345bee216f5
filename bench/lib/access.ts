/** Access to the server being measured: its port, the secret for its tokens, and valid tokens. */

import { randomBytes } from 'node:crypto'
import { inSeconds, mintToken } from '../../test/conformance/tokens.js'
import { freePort } from '../../test/support/process.js'

const tokenLifetime = 24 * 60 * 60 // seconds; longer than any run

export async function newAccess() {
  const secret = randomBytes(32).toString('base64url')
  const headers = { Authorization: `Bearer ${signToken(secret, 'bench')}` }
  return { port: await freePort(), secret, headers }
}

export function signToken(secret: string, sub: string) {
  return mintToken({ sub, exp: inSeconds(tokenLifetime), iat: inSeconds(0) }, { secret })
}
