/** Access tokens: JSON Web Tokens signed with a shared secret (spec §5). @module */

import { isUtf8 } from 'node:buffer'
import { timingSafeEqual } from 'node:crypto'
import { ApiError } from '../interface/errors.js'
import { type Signing, signatureOf, type VerifiedToken } from './secret.js'

const compactJws = /^(([\w-]+)\.([\w-]+))\.([\w-]+)$/ // header, payload and signature (RFC 7515 §7.1)

export function verifyToken(token: string, signing: Signing): VerifiedToken {
  const known = signing.verified.get(token)
  if (known !== undefined) {
    assertNotExpired(known)
    return known
  }
  const claims = verifiedClaims(token, signing)
  signing.verified.set(token, claims)
  return claims
}

function verifiedClaims(token: string, signing: Signing): VerifiedToken {
  const [, input, header, payload, signature] = compactJws.exec(token) ?? []
  if (!input || !header || !payload || !signature) throw invalid('it is not a JSON Web Token')
  if (!isSignatureOf(input, signature, signing)) throw invalid('its signature does not match')

  const { alg, crit } = parsePart(header, 'header')
  // `crit` lists extensions that the recipient must support. We support none (RFC 7515 §4.1.11).
  if (typeof alg !== 'string' || crit !== undefined) throw invalid('its header is not supported')
  if (alg !== signing.algorithm) throw invalid('its algorithm is not the configured one')
  // The value of `iat` doesn't matter, only its type (RFC 7519 §4.1).
  const { sub, exp, nbf = 0, iat = 0 } = parsePart(payload, 'payload')
  if (isTime(exp)) assertNotExpired({ exp })
  if (typeof sub !== 'string' || !isTime(exp) || !isTime(nbf) || !isTime(iat)) {
    throw invalid('it needs sub (a string) and exp (a number); nbf and iat must be numbers')
  }
  // Adds 1 ms, because `Date.now()` is rounded down to whole milliseconds, and `nbf` may be more precise.
  if (nbf >= (Date.now() + 1) / 1000) throw invalid('it is not valid yet (nbf)')
  return { sub, exp } // other claims are not kept, because they could take much more memory
}

/** True for a `NumericDate`: seconds since 1970, possibly with a fraction (RFC 7519 §2). */
function isTime(claim: unknown): claim is number {
  return Number.isFinite(claim)
}

/** Compares signatures as text, because base64 decoders ignore unused bits of the last character (RFC 4648 §3.5). */
function isSignatureOf(input: string, signature: string, { algorithm, keys }: Signing): boolean {
  return keys.some((key) => {
    const expected = signatureOf(input, algorithm, key)
    if (signature.length !== expected.length) return false // an early return is safe, because the length is not secret
    return timingSafeEqual(Buffer.from(signature, 'latin1'), Buffer.from(expected, 'latin1'))
  })
}

function parsePart(part: string, name: string): Partial<Record<string, unknown>> {
  const bytes = Buffer.from(part, 'base64url')
  if (!isUtf8(bytes)) throw invalid(`its ${name} is not UTF-8`)
  try {
    return Object(JSON.parse(bytes.toString()))
  } catch {
    throw invalid(`its ${name} is not JSON`)
  }
}

/** Checks the expiry, with no leeway for clocks that differ; for a cached token, on each use (spec §5.4). */
function assertNotExpired({ exp }: Pick<VerifiedToken, 'exp'>): void {
  if (exp <= Date.now() / 1000) throw new ApiError('TOKEN_EXPIRED', 'The token has expired')
}

function invalid(why: string): ApiError {
  return new ApiError('INVALID_TOKEN', `The token is invalid: ${why}`)
}
