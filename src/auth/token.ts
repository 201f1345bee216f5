/** Access tokens: JSON Web Tokens signed with a shared secret (spec §5, RFC 7519). @module */

import { isUtf8 } from 'node:buffer'
import { compactVerify, errors } from 'jose'
import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { currentSigning, type Signing, TokenError } from './secret.js'

export { authFault, TokenError } from './secret.js'

/** The claims of an access token (spec §2.6). Further claims are ignored. */
export const TokenPayload = Type.Object(
  {
    sub: Type.String({ description: 'Who calls' }),
    exp: Type.Integer({ description: 'Unix time in seconds from which the token is expired' }),
    iat: Type.Optional(Type.Integer({ description: 'Unix time in seconds of issue' })),
  },
  { title: 'TokenPayload', additionalProperties: true },
)
export type TokenPayload = Static<typeof TokenPayload>

/** What is known of a token that was let in: `iat` may be anything, as nothing depends on it. */
export type VerifiedToken = Pick<TokenPayload, 'sub' | 'exp'>

/** Most tokens that are remembered; the oldest is forgotten first. */
const maxRemembered = 10_000

/** Longest token that is remembered, in characters: with the above it bounds the memory to 50 MB. */
const maxRememberedLength = 2_000

/**
 * The claims that must hold. `iat` is none of them: it is never a reason to refuse, and `nbf` is
 * only one when it is there (RFC 7519 §4.1.5).
 */
const requiredClaims = Compile(
  Type.Object({ sub: Type.String(), exp: Type.Integer(), nbf: Type.Optional(Type.Number()) }),
)

/**
 * What verified tokens said, by the whole token. Only tokens that were let in get here, so that
 * hostile ones cannot fill it.
 */
type Remembered = Map<string, VerifiedToken>

let remembered: Remembered = new Map()
let rememberedFor: Signing | undefined

/**
 * Verifies a token against `JWT_SECRET` and `JWT_ALGORITHM` as they are now (spec §5.5).
 * @param token compact serialisation of a JWS, as it stands in the `Authorization` header.
 * @throws {TokenError} when the token, or the configuration, lets nobody in.
 */
export function verifyToken(token: string): VerifiedToken | Promise<VerifiedToken> {
  const signing = currentSigning()
  const known = rememberedWith(signing).get(token)
  if (known === undefined) return verifyUnknown(token, signing, remembered)
  needUnexpired(known)
  return known
}

/** Another secret or algorithm starts anew, so that no token outlives a change. */
function rememberedWith(signing: Signing): Remembered {
  if (signing !== rememberedFor) {
    remembered = new Map()
    rememberedFor = signing
  }
  return remembered
}

async function verifyUnknown(
  token: string,
  signing: Signing,
  tokens: Remembered,
): Promise<VerifiedToken> {
  const payload = await verifiedPayload(token, signing)
  if (!requiredClaims.Check(payload)) {
    throw invalid('it needs the claims sub (a string) and exp (an integer)')
  }
  if (payload.nbf !== undefined && payload.nbf > Date.now() / 1000) {
    throw invalid('it is not valid yet (nbf)')
  }
  needUnexpired(payload)
  const verified = { sub: payload.sub, exp: payload.exp } // the rest may take much more memory
  remember(token, verified, tokens)
  return verified
}

/** Checked at every use, however a token got known (spec §5.4). There is no leeway. */
function needUnexpired({ exp }: VerifiedToken): void {
  if (exp <= Date.now() / 1000) throw new TokenError('TOKEN_EXPIRED', 'The token has expired')
}

function remember(token: string, payload: VerifiedToken, tokens: Remembered): void {
  if (token.length > maxRememberedLength) return
  const [oldest] = tokens.keys()
  if (oldest !== undefined && tokens.size >= maxRemembered) tokens.delete(oldest)
  tokens.set(token, payload)
}

/** The payload of a token whose signature holds, whatever it may be. */
async function verifiedPayload(token: string, { key, algorithm }: Signing): Promise<unknown> {
  if (!hasCanonicalSignature(token)) throw invalid('its signature is malformed')
  const { payload, protectedHeader } = await compactVerify(token, key, {
    algorithms: [algorithm],
  }).catch((error: unknown) => {
    throw error instanceof errors.JOSEError ? invalid(reason(error)) : error
  })
  // The one extension that the library knows, an unencoded payload, is none for a JWT (RFC 7797 §7).
  if (protectedHeader.crit !== undefined) throw invalid('its header asks for an unknown extension')
  if (!isUtf8(payload)) throw invalid('its payload is not UTF-8')
  try {
    return JSON.parse(Buffer.from(payload).toString())
  } catch {
    throw invalid('its payload is not JSON')
  }
}

/**
 * Whether the signature is spelt in its one right way. Decoders ignore the unused bits of the last
 * character, so that a changed token would pass (RFC 4648 §3.5).
 */
function hasCanonicalSignature(token: string): boolean {
  const signature = token.slice(token.lastIndexOf('.') + 1)
  return Buffer.from(signature, 'base64url').toString('base64url') === signature
}

function reason(error: errors.JOSEError): string {
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'its signature does not match'
  if (error instanceof errors.JOSEAlgNotAllowed) return 'its algorithm is not the one in use'
  if (error instanceof errors.JOSENotSupported) return 'its header asks for an unknown extension'
  return 'it is not a JSON Web Token'
}

function invalid(why: string): TokenError {
  return new TokenError('INVALID_TOKEN', `The token is invalid: ${why}`)
}
