/** Signs access tokens; kept apart from their verification, which is all the service needs. @module */

import { CompactSign } from 'jose/jws/compact/sign'
import type { TokenPayload } from '../interface/models.js'
import { environmentSigning } from './secret.js'

/**
 * Signs a token.
 * @param sub who the token is for.
 * @param lifetime in seconds from now.
 * @param signing by default, that of the current `JWT_SECRET` and `JWT_ALGORITHM`.
 * @throws {ApiError} `AUTH_NOT_CONFIGURED`.
 */
export async function signToken(
  sub: string,
  lifetime: number,
  { key, algorithm } = environmentSigning(),
): Promise<string> {
  const iat = Math.floor(Date.now() / 1000)
  const payload: TokenPayload = { sub, iat, exp: iat + lifetime }
  return await new CompactSign(Buffer.from(JSON.stringify(payload)))
    .setProtectedHeader({ alg: algorithm, typ: 'JWT' })
    .sign(key)
}
