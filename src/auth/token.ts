/** Access tokens: JSON Web Tokens signed with a shared secret (spec §5, RFC 7519). @module */

import { isUtf8 } from 'node:buffer'
import { createHmac, timingSafeEqual } from 'node:crypto'
import * as v from 'valibot'
import { currentSigning, hashes, type Signing, TokenError, type VerifiedToken } from './secret.js'

/** Maximum number of tokens that are remembered; the oldest is forgotten first. */
const maxRemembered = 10_000

/** Maximum length of one, in characters: with the above it bounds the memory to 50 MB. */
const maxRememberedLength = 2_000

/** A compact JWS (RFC 7515 §7.1): signing input, of header and payload, and signature. */
const compactJws = /^(([\w-]+)\.([\w-]+))\.([\w-]+)$/

/** `crit` asks for extensions, of which none is known (RFC 7515 §4.1.11). */
const requiredHeader = v.looseObject({ alg: v.string(), crit: v.optional(v.never()) })

/**
 * The claims that must hold. `iat` is none of them: it is never a reason to refuse, and `nbf` is
 * only one when it is there (RFC 7519 §4.1.5).
 */
const requiredClaims = v.looseObject({
  sub: v.string(),
  exp: v.pipe(v.number(), v.integer()),
  nbf: v.optional(v.number()),
})

/**
 * Verifies a token against `JWT_SECRET` and `JWT_ALGORITHM` as they are now (spec §5.5).
 * @param token compact serialisation of a JWS, as it stands in the `Authorization` header.
 * @throws {TokenError} when the token, or the configuration, lets nobody in.
 */
export function verifyToken(token: string): VerifiedToken {
  const signing = currentSigning()
  const known = signing.verified.get(token)
  if (known !== undefined) {
    needUnexpired(known)
    return known
  }
  const { sub, exp, nbf } = verifiedClaims(token, signing)
  if (nbf !== undefined && nbf > Date.now() / 1000) throw invalid('it is not valid yet (nbf)')
  const verified = { sub, exp } // the rest may take much more memory
  needUnexpired(verified)
  remember(token, verified, signing.verified)
  return verified
}

/** The claims of a token whose signature, header and claims hold, except for the times. */
function verifiedClaims(token: string, signing: Signing): v.InferOutput<typeof requiredClaims> {
  const [, input, header, payload, signature] = compactJws.exec(token) ?? []
  if (!input || !header || !payload || !signature) throw invalid('it is not a JSON Web Token')
  if (!isSignatureOf(input, signature, signing)) throw invalid('its signature does not match')

  const { output: rules, success } = v.safeParse(requiredHeader, parsed(header, 'header'))
  if (!success) throw invalid('its header asks for what is not known')
  if (rules.alg !== signing.algorithm) throw invalid('its algorithm is not the one in use')
  const claims = parsed(payload, 'payload')
  if (!v.is(requiredClaims, claims)) {
    throw invalid('it needs the claims sub (a string) and exp (an integer)')
  }
  return claims
}

/**
 * Whether a signature is right (RFC 7515 §5.2), and spelt in its one right way: decoders ignore the
 * unused bits of the last character, so that a changed token would pass (RFC 4648 §3.5).
 */
function isSignatureOf(input: string, signature: string, { algorithm, key }: Signing): boolean {
  const expected = createHmac(hashes[algorithm], key).update(input).digest('base64url')
  if (signature.length !== expected.length) return false // how long it is, is no secret
  return timingSafeEqual(Buffer.from(signature, 'latin1'), Buffer.from(expected, 'latin1'))
}

/** A part of a token as the JSON that it must be. */
function parsed(part: string, name: string): unknown {
  const bytes = Buffer.from(part, 'base64url')
  if (!isUtf8(bytes)) throw invalid(`its ${name} is not UTF-8`)
  try {
    return JSON.parse(bytes.toString())
  } catch {
    throw invalid(`its ${name} is not JSON`)
  }
}

/** Checked at every use, however a token got known (spec §5.4). There is no leeway. */
function needUnexpired({ exp }: VerifiedToken): void {
  if (exp <= Date.now() / 1000) throw new TokenError('TOKEN_EXPIRED', 'The token has expired')
}

function remember(token: string, payload: VerifiedToken, verified: Signing['verified']): void {
  if (token.length > maxRememberedLength) return
  const [oldest] = verified.keys()
  if (oldest !== undefined && verified.size >= maxRemembered) verified.delete(oldest)
  verified.set(token, payload)
}

function invalid(why: string): TokenError {
  return new TokenError('INVALID_TOKEN', `The token is invalid: ${why}`)
}
