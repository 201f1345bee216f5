/** Signs access tokens; kept apart from their verification, which is all the service needs. @module */

import { CompactSign } from 'jose/jws/compact/sign'
import type { TokenPayload } from '../interface/models.js'
import { environmentSigning, type Signing } from './secret.js'

export interface SignOptions {
  readonly iat?: number | undefined
  readonly signing?: Signing
}

/**
 * Signs a token.
 * @param sub who the token is for.
 * @param lifetime in seconds from `iat`.
 * @param options `iat` is when it is issued, in Unix time in seconds, by default now; `signing` is by
 * default that of the current `JWT_SECRET` and `JWT_ALGORITHM`.
 * @throws {ApiError} `AUTH_NOT_CONFIGURED`.
 */
export async function signToken(
  sub: string,
  lifetime: number,
  { iat = Math.floor(Date.now() / 1000), signing = environmentSigning() }: SignOptions = {},
): Promise<string> {
  const payload: TokenPayload = { sub, iat, exp: iat + lifetime }
  return await new CompactSign(Buffer.from(JSON.stringify(payload)))
    .setProtectedHeader({ alg: signing.algorithm, typ: 'JWT' })
    .sign(signing.key)
}
