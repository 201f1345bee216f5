/**
 * The keys and the algorithm for tokens: `JWT_SECRET` or `JWT_SECRET_FILE`, and `JWT_ALGORITHM` (spec §5.5); the
 * tokens signed with them, and a cache of those that were verified.
 *
 * @module
 */

import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import { ApiError } from '../interface/errors.js'
import type { TokenPayload } from '../interface/models.js'
import { secretFile } from './secret-file.js'

/** The HMAC algorithms of RFC 7518 §3.2, with the names of their hashes in OpenSSL. */
const hashes = { HS256: 'sha256', HS384: 'sha384', HS512: 'sha512' } as const
type Algorithm = keyof typeof hashes

/** The claims that are kept of a verified token: not `iat`, because nothing depends on it. */
export type VerifiedToken = Pick<TokenPayload, 'sub' | 'exp'>

/** One secret, or several: the first signs, and all verify. */
type Secrets = string | readonly string[]

/** Secrets with one algorithm. A change of either makes a new `Signing`. */
export interface Signing {
  readonly secrets: Secrets
  readonly algorithm: Algorithm
  /** One key for each secret. */
  readonly keys: readonly [KeyObject, ...KeyObject[]]
  /** The tokens verified with these keys, forgotten along with them. */
  readonly verified: TokenCache
}

/** Returns the current keys and algorithm. @throws {ApiError} `AUTH_NOT_CONFIGURED`. */
export type CurrentSigning = () => Signing

/**
 * Returns the keys for secrets that may change at any time; they are reused until the secrets or the algorithm do.
 * @param secrets returns the current secret; empty or `undefined` for none. Several are the same array until they
 * change.
 * @param algorithm returns the current algorithm.
 */
export function followSecret(
  secrets: () => Secrets | undefined,
  algorithm: () => string = () => 'HS256',
): CurrentSigning {
  let latest: Signing | undefined
  return () => {
    const [current, name] = [secrets() ?? '', algorithm()]
    if (latest?.secrets === current && latest.algorithm === name) return latest
    latest = createSigning(current, name)
    return latest
  }
}

/**
 * The current keys and algorithm, from `JWT_SECRET` or `JWT_SECRET_FILE`, and `JWT_ALGORITHM`. The environment is read
 * each time, because any code in this process may change it; that takes half a microsecond.
 * @throws {ApiError} `AUTH_NOT_CONFIGURED`.
 */
export const environmentSigning: CurrentSigning = followSecret(
  () => {
    const { env } = process
    if (env.JWT_SECRET || !env.JWT_SECRET_FILE) return env.JWT_SECRET
    const { secrets, problem } = secretFile(env.JWT_SECRET_FILE)
    if (secrets.length === 0) throw notConfigured(String(problem))
    return secrets
  },
  () => process.env.JWT_ALGORITHM || 'HS256',
)

/** Returns why tokens cannot be signed or verified now; `undefined` if they can. */
export function signingProblem(currentSigning: CurrentSigning): string | undefined {
  try {
    currentSigning()
    return undefined
  } catch (error) {
    if (error instanceof ApiError) return String(error.cause)
    throw error
  }
}

/** @throws {ApiError} `AUTH_NOT_CONFIGURED`. */
function createSigning(secrets: Secrets, algorithm: string): Signing {
  const [first, ...others] = typeof secrets === 'string' ? [secrets] : secrets
  if (!first) throw notConfigured('JWT_SECRET is not set')
  if (!isAlgorithm(algorithm)) {
    throw notConfigured(`JWT_ALGORITHM is not one of ${Object.keys(hashes).join(', ')}`)
  }
  const keys: Signing['keys'] = [keyOf(first), ...others.map(keyOf)]
  return { secrets, algorithm, keys, verified: new TokenCache() }
}

/** @throws {ApiError} `AUTH_NOT_CONFIGURED`. */
function keyOf(secret: string): KeyObject {
  const bytes = Buffer.from(secret)
  // Invalid UTF-8 or Unicode becomes this character, so many secrets would be the same one, easily guessed.
  if (bytes.includes('\ufffd')) throw notConfigured('JWT_SECRET is not valid UTF-8')
  return createSecretKey(bytes)
}

function isAlgorithm(name: string): name is Algorithm {
  return Object.hasOwn(hashes, name)
}

/** @param cause for the log and the operator, but not for clients. */
function notConfigured(cause: string): ApiError {
  const message = 'The service has no usable JWT_SECRET or JWT_ALGORITHM'
  return new ApiError('AUTH_NOT_CONFIGURED', message, { cause })
}

/**
 * Signs a token.
 * @param sub the caller that the token identifies.
 * @param lifetime in seconds from now.
 * @throws {ApiError} `AUTH_NOT_CONFIGURED`.
 */
export function signToken(sub: string, lifetime: number, signing = environmentSigning()): string {
  const iat = Math.floor(Date.now() / 1000)
  const payload: TokenPayload = { sub, iat, exp: iat + lifetime }
  const input = [{ alg: signing.algorithm, typ: 'JWT' }, payload]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  return `${input}.${signatureOf(input, signing.algorithm, signing.keys[0])}`
}

/** Returns the signature of a token's header and payload, as it stands in the token (RFC 7515 §5.1). */
export function signatureOf(input: string, algorithm: Algorithm, key: KeyObject): string {
  return createHmac(hashes[algorithm], key).update(input).digest('base64url')
}

/** Maximum size of the cache, in bytes: enough for 20,000 tokens of 170 characters. */
const maxBytes = 8 * 1024 * 1024

/** Size of an entry besides the characters of its token and of `sub`, in bytes. */
const entryBytes = 200

/** Claims of verified tokens, by the complete token. A full cache is dropped whole, which takes no time. */
class TokenCache {
  #claims = new Map<string, VerifiedToken>()
  #bytes = 0

  get(token: string): VerifiedToken | undefined {
    return this.#claims.get(token)
  }

  /** Only for accepted tokens, so that forged ones cannot fill the cache. */
  add(token: string, claims: VerifiedToken): void {
    const bytes = entryBytes + token.length + 2 * claims.sub.length // up to two bytes for a character
    this.#bytes += bytes
    if (this.#bytes > maxBytes) {
      this.#claims = new Map()
      this.#bytes = bytes
    }
    this.#claims.set(copied(token), claims)
  }
}

/** Copies a text: V8 makes a part of a string refer to the whole, here a header of up to 16 KiB. */
function copied(token: string): string {
  return Buffer.from(token, 'latin1').toString('latin1') // tokens are ASCII
}
