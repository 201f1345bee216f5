/** Access tokens: JSON Web Tokens signed with a shared secret (spec §5, RFC 7519). @module */

import { isUtf8 } from 'node:buffer'
import { timingSafeEqual } from 'node:crypto'
import * as v from 'valibot'
import { ApiError } from '../interface/errors.js'
import { environmentSigning, type Signing, signatureOf, type VerifiedToken } from './secret.js'

/** A compact JWS (RFC 7515 §7.1): the signing input, made of header and payload, and the signature. */
const compactJws = /^(([\w-]+)\.([\w-]+))\.([\w-]+)$/

/** `crit` demands extensions, and none are supported (RFC 7515 §4.1.11). */
const requiredHeader = v.looseObject({ alg: v.string(), crit: v.optional(v.never()) })

/** Unix time in seconds, which may have a fraction (`NumericDate`, RFC 7519 §2): many libraries sign the clock as it is. */
const time = v.pipe(v.number(), v.finite())

/** The claims that are checked: `nbf` if present (RFC 7519 §4.1.5), and of `iat` only that it is a time. */
const requiredClaims = v.looseObject({
  sub: v.string(),
  exp: time,
  nbf: v.optional(time),
  iat: v.optional(time),
})
const expiringClaims = v.looseObject({ exp: time })

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
  const { sub, exp, nbf } = verifiedClaims(token, signing)
  // The clock is cut to milliseconds, but a fraction may have more digits: a token of this moment is valid.
  if (nbf !== undefined && nbf >= (Date.now() + 1) / 1000)
    throw invalid('it is not valid yet (nbf)')
  const verified = { sub, exp } // keeping other claims could take much more memory
  signing.verified.add(token, verified)
  return verified
}

/** The claims of a token, after all checks but that of `nbf`. An expired token is reported as such, whatever else it lacks. */
function verifiedClaims(token: string, signing: Signing): v.InferOutput<typeof requiredClaims> {
  const [, input, header, payload, signature] = compactJws.exec(token) ?? []
  if (!input || !header || !payload || !signature) throw invalid('it is not a JSON Web Token')
  if (!isSignatureOf(input, signature, signing)) throw invalid('its signature does not match')

  const { output: rules, success } = v.safeParse(requiredHeader, parsePart(header, 'header'))
  if (!success) throw invalid('its header is not supported')
  if (rules.alg !== signing.algorithm) throw invalid('its algorithm is not the configured one')
  const claims = parsePart(payload, 'payload')
  if (v.is(expiringClaims, claims)) assertNotExpired(claims)
  if (!v.is(requiredClaims, claims)) {
    throw invalid('it needs sub (a string) and exp (a number); nbf and iat must be numbers')
  }
  return claims
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

/** Parses a part of a token, which must be JSON. */
function parsePart(part: string, name: string): unknown {
  const bytes = Buffer.from(part, 'base64url')
  if (!isUtf8(bytes)) throw invalid(`its ${name} is not UTF-8`)
  try {
    return JSON.parse(bytes.toString())
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
