/** Access tokens: JSON Web Tokens signed with a shared secret (spec §5, RFC 7519). @module */

import { isUtf8 } from 'node:buffer'
import { createSecretKey, type KeyObject } from 'node:crypto'
import { CompactSign, compactVerify, errors } from 'jose'
import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'

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

/** Why a token lets nobody in (spec §5.6, and `AUTH_NOT_CONFIGURED` for a missing secret). */
export class TokenError extends Error {
  override readonly name = 'TokenError'
  readonly code: 'INVALID_TOKEN' | 'TOKEN_EXPIRED' | 'AUTH_NOT_CONFIGURED'

  constructor(code: TokenError['code'], message: string) {
    super(message)
    this.code = code
  }
}

/** The HMAC algorithms of RFC 7518 §3.2. */
const algorithms = ['HS256', 'HS384', 'HS512'] as const
type Algorithm = (typeof algorithms)[number]

interface Signing {
  readonly secret: string
  readonly algorithm: Algorithm
  readonly key: KeyObject
  /**
   * What tokens verified with this key said, by the whole token. Another secret or algorithm makes
   * another `Signing`, so that no token outlives a change. Only tokens that were let in get here,
   * so that hostile ones cannot fill it.
   */
  readonly verified: Map<string, VerifiedToken>
}

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

let signing: Signing | undefined
/** Whether the environment was read in this turn of the event loop. */
let isCurrent = false

/**
 * Verifies a token against `JWT_SECRET` and `JWT_ALGORITHM` as they are now (spec §5.5).
 * @param token compact serialisation of a JWS, as it stands in the `Authorization` header.
 * @throws {TokenError} when the token, or the configuration, lets nobody in.
 */
export function verifyToken(token: string): VerifiedToken | Promise<VerifiedToken> {
  const signing = currentSigning()
  const known = signing.verified.get(token)
  if (known === undefined) return verifyUnknown(token, signing)
  needUnexpired(known)
  return known
}

async function verifyUnknown(token: string, signing: Signing): Promise<VerifiedToken> {
  const payload = await verifiedPayload(token, signing)
  if (!requiredClaims.Check(payload)) {
    throw invalid('it needs the claims sub (a string) and exp (an integer)')
  }
  if (payload.nbf !== undefined && payload.nbf > Date.now() / 1000) {
    throw invalid('it is not valid yet (nbf)')
  }
  needUnexpired(payload)
  const verified = { sub: payload.sub, exp: payload.exp } // the rest may take much more memory
  remember(token, verified, signing.verified)
  return verified
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

/**
 * Signs a token with `JWT_SECRET` and `JWT_ALGORITHM` as they are now.
 * @param sub who the token is for.
 * @param lifetime in seconds from now.
 * @throws {TokenError} `AUTH_NOT_CONFIGURED`.
 */
export async function signToken(sub: string, lifetime: number): Promise<string> {
  const { key, algorithm } = currentSigning()
  const iat = Math.floor(Date.now() / 1000)
  const payload: TokenPayload = { sub, iat, exp: iat + lifetime }
  return await new CompactSign(Buffer.from(JSON.stringify(payload)))
    .setProtectedHeader({ alg: algorithm, typ: 'JWT' })
    .sign(key)
}

/** What is wrong with `JWT_SECRET` or `JWT_ALGORITHM` as they are now, or `undefined`. */
export function authFault(): string | undefined {
  try {
    currentSigning()
    return undefined
  } catch (error) {
    if (error instanceof TokenError) return error.message
    throw error
  }
}

/**
 * What to verify with now. The environment is read in every turn of the event loop, and not for
 * every request that the turn handles, as that costs a tenth of a small request; the key is kept as
 * long as it says the same.
 */
function currentSigning(): Signing {
  if (isCurrent && signing !== undefined) return signing
  signing = readSigning()
  isCurrent = true
  setImmediate(() => {
    isCurrent = false
  })
  return signing
}

function readSigning(): Signing {
  const secret = process.env.JWT_SECRET ?? ''
  const algorithm = process.env.JWT_ALGORITHM || 'HS256'
  if (signing?.secret === secret && signing.algorithm === algorithm) return signing
  if (secret === '') throw new TokenError('AUTH_NOT_CONFIGURED', 'JWT_SECRET is not set')
  if (!isAlgorithm(algorithm)) {
    throw new TokenError(
      'AUTH_NOT_CONFIGURED',
      `JWT_ALGORITHM is not one of ${algorithms.join(', ')}`,
    )
  }
  const key = createSecretKey(Buffer.from(secret))
  return { secret, algorithm, key, verified: new Map() }
}

function isAlgorithm(name: string): name is Algorithm {
  return (algorithms as readonly string[]).includes(name) // widened, to ask about any string
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
