/** Access tokens: JSON Web Tokens signed with a shared secret (spec §5, RFC 7519). @module */

import { isUtf8 } from 'node:buffer'
import { timingSafeEqual } from 'node:crypto'
import { ApiError } from '../interface/errors.js'
import { environmentSigning, type Signing, signatureOf, type VerifiedToken } from './secret.js'

/** A compact JWS (RFC 7515 §7.1): the signing input, made of header and payload, and the signature. */
const compactJws = /^(([\w-]+)\.([\w-]+))\.([\w-]+)$/

/**
 * Verifies a token (spec §5).
 * @param token compact serialization of a JWS, as in the `Authorization` header.
 * @param signing by default, the current `JWT_SECRET` and `JWT_ALGORITHM` (spec §5.5).
 * @throws {ApiError} if the token is rejected, or `JWT_SECRET` or `JWT_ALGORITHM` is not usable.
 */
export function verifyToken(token: string, signing = environmentSigning()): VerifiedToken {
  const known = signing.verified.get(token)
  if (known !== undefined) {
    assertNotExpired(known)
    return known
  }
  const claims = verifiedClaims(token, signing)
  signing.verified.add(token, claims)
  return claims
}

/** The claims of a token, after all checks. An expired token is reported as such, whatever else it lacks. */
function verifiedClaims(token: string, signing: Signing): VerifiedToken {
  const [, input, header, payload, signature] = compactJws.exec(token) ?? []
  if (!input || !header || !payload || !signature) throw invalid('it is not a JSON Web Token')
  if (!isSignatureOf(input, signature, signing)) throw invalid('its signature does not match')

  const { alg, crit } = parsePart(header, 'header')
  // `crit` demands extensions, and none are supported (RFC 7515 §4.1.11).
  if (typeof alg !== 'string' || crit !== undefined) throw invalid('its header is not supported')
  if (alg !== signing.algorithm) throw invalid('its algorithm is not the configured one')
  // RFC 7519 §4.1. Of `iat`, only the type is checked.
  const { sub, exp, nbf = 0, iat = 0 } = parsePart(payload, 'payload')
  if (isTime(exp)) assertNotExpired({ exp })
  if (typeof sub !== 'string' || !isTime(exp) || !isTime(nbf) || !isTime(iat)) {
    throw invalid('it needs sub (a string) and exp (a number); nbf and iat must be numbers')
  }
  // The clock is cut to milliseconds, but a fraction may have more digits: a token of this moment is valid.
  if (nbf >= (Date.now() + 1) / 1000) throw invalid('it is not valid yet (nbf)')
  return { sub, exp } // keeping other claims could take much more memory
}

/** Unix time in seconds, which may have a fraction (`NumericDate`, RFC 7519 §2): many libraries sign the clock as it is. */
function isTime(claim: unknown): claim is number {
  return Number.isFinite(claim)
}

/**
 * Whether a signature is correct (RFC 7515 §5.2) and canonically encoded: decoders ignore the unused
 * bits of the last character, so an altered token would pass (RFC 4648 §3.5).
 */
function isSignatureOf(input: string, signature: string, { algorithm, keys }: Signing): boolean {
  return keys.some((key) => {
    const expected = signatureOf(input, algorithm, key)
    if (signature.length !== expected.length) return false // the length is not secret
    return timingSafeEqual(Buffer.from(signature, 'latin1'), Buffer.from(expected, 'latin1'))
  })
}

/** Parses a part of a token, which must be JSON. Anything but an object has none of the members that are read. */
function parsePart(part: string, name: string): Partial<Record<string, unknown>> {
  const bytes = Buffer.from(part, 'base64url')
  if (!isUtf8(bytes)) throw invalid(`its ${name} is not UTF-8`)
  try {
    return Object(JSON.parse(bytes.toString()))
  } catch {
    throw invalid(`its ${name} is not JSON`)
  }
}

/** Checked on every use, cached or not (spec §5.4). There is no leeway. */
function assertNotExpired({ exp }: Pick<VerifiedToken, 'exp'>): void {
  if (exp <= Date.now() / 1000) throw new ApiError('TOKEN_EXPIRED', 'The token has expired')
}

function invalid(why: string): ApiError {
  return new ApiError('INVALID_TOKEN', `The token is invalid: ${why}`)
}
