/** Signs access tokens; kept apart from their verification, which is all the service needs. @module */

import { CompactSign } from 'jose/jws/compact/sign'
import type { TokenPayload } from '../interface/models.js'
import { currentSigning } from './secret.js'

/**
 * Signs a token with the current `JWT_SECRET` and `JWT_ALGORITHM`.
 * @param sub who the token is for.
 * @param lifetime in seconds from `iat`.
 * @param iat when it is issued, in Unix time in seconds; now by default.
 * @throws {ApiError} `AUTH_NOT_CONFIGURED`.
 */
export async function signToken(
  sub: string,
  lifetime: number,
  iat = Math.floor(Date.now() / 1000),
): Promise<string> {
  const { key, algorithm } = currentSigning()
  const payload: TokenPayload = { sub, iat, exp: iat + lifetime }
  return await new CompactSign(Buffer.from(JSON.stringify(payload)))
    .setProtectedHeader({ alg: algorithm, typ: 'JWT' })
    .sign(key)
}
