/** Signs access tokens; separate from verification, which is all that serving needs. @module */

import { CompactSign } from 'jose/jws/compact/sign'
import type { TokenPayload } from '../interface/models.js'
import { environmentSigning, type Signing } from './secret.js'

interface SignOptions {
  readonly iat?: number | undefined
  readonly signing?: Signing
}

/**
 * Signs a token.
 * @param sub the caller that the token identifies.
 * @param lifetime in seconds from `iat`.
 * @param options `iat` is the time of issue, Unix time in seconds, now by default; `signing` defaults to
 * the current `JWT_SECRET` and `JWT_ALGORITHM`.
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
    .sign(signing.keys[0])
}
