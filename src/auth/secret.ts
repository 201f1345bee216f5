/**
 * The keys and the algorithm of access tokens, from `JWT_SECRET` or `JWT_SECRET_FILE`, and `JWT_ALGORITHM` (spec §5.5).
 * This file also signs tokens, and caches the tokens that have been verified.
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

/** The claims that are kept from a verified token. `iat` is left out, because nothing depends on it. */
export type VerifiedToken = Pick<TokenPayload, 'sub' | 'exp'>

/** One or more secrets. The first secret signs tokens; every secret can verify a token. */
type Secrets = string | readonly string[]

/** Secrets with their algorithm and keys. When a secret or the algorithm changes, a new `Signing` is created. */
export interface Signing {
  readonly secrets: Secrets
  readonly algorithm: Algorithm
  /** Keys made from the secrets: one per secret, in the same order. */
  readonly keys: readonly [KeyObject, ...KeyObject[]]
  /** Cache of the tokens that were verified with these keys. The cache is dropped when the keys change. */
  readonly verified: TokenCache
}

/** Returns the current keys and algorithm for tokens. @throws {ApiError} `AUTH_NOT_CONFIGURED` if none can be used. */
export type CurrentSigning = () => Signing

/**
 * Returns a function that returns the current keys. New keys are created only when the secrets or algorithm change.
 * @param secrets returns the current secrets; empty or `undefined` for none. An array must be the same object until a
 * secret changes.
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
 * Returns the keys and algorithm from `JWT_SECRET` or `JWT_SECRET_FILE`, and `JWT_ALGORITHM`. Each call reads the
 * environment variables again, because any code in the process may change them. A call takes half a microsecond.
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

/** Returns why tokens cannot be signed or verified at present; `undefined` if they can. */
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
  // Encoding replaces invalid Unicode with U+FFFD, which would turn many different secrets into one that is easy to
  // guess.
  if (bytes.includes('\ufffd')) throw notConfigured('JWT_SECRET is not valid UTF-8')
  return createSecretKey(bytes)
}

function isAlgorithm(name: string): name is Algorithm {
  return Object.hasOwn(hashes, name)
}

/** @param cause the reason, which the log and the operator see, but clients do not. */
function notConfigured(cause: string): ApiError {
  const message = 'The service has no usable JWT_SECRET or JWT_ALGORITHM'
  return new ApiError('AUTH_NOT_CONFIGURED', message, { cause })
}

/** @param lifetime time until the token expires, in seconds. @throws {ApiError} `AUTH_NOT_CONFIGURED`. */
export function signToken(sub: string, lifetime: number, signing = environmentSigning()): string {
  const iat = Math.floor(Date.now() / 1000)
  const payload: TokenPayload = { sub, iat, exp: iat + lifetime }
  const input = [{ alg: signing.algorithm, typ: 'JWT' }, payload]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  return `${input}.${signatureOf(input, signing.algorithm, signing.keys[0])}`
}

/** Returns the signature of a token's header and payload, encoded as in the token (RFC 7515 §5.1). */
export function signatureOf(input: string, algorithm: Algorithm, key: KeyObject): string {
  return createHmac(hashes[algorithm], key).update(input).digest('base64url')
}

/** Maximum size of the cache of verified tokens, in bytes. The cache has space for 20,000 tokens of 170 characters. */
const maxBytes = 8 * 1024 * 1024

/** Size of an entry of the token cache, in bytes, excluding the characters of the token and of `sub`. */
const entryBytes = 200

/** Cache that maps verified tokens to their claims. When the cache is full, it is emptied, which takes no time. */
class TokenCache {
  #claims = new Map<string, VerifiedToken>()
  #bytes = 0

  get(token: string): VerifiedToken | undefined {
    return this.#claims.get(token)
  }

  /** Adds a token to the cache. Only valid tokens may be added, so that forged tokens cannot fill the cache. */
  add(token: string, claims: VerifiedToken): void {
    const bytes = entryBytes + token.length + 2 * claims.sub.length // a character of `sub` takes up to two bytes
    this.#bytes += bytes
    if (this.#bytes > maxBytes) {
      this.#claims = new Map()
      this.#bytes = bytes
    }
    // In V8, the token is a substring of its header, so it would keep the whole header in memory, up to 16 KiB. A copy
    // of the token does not.
    const copy = Buffer.from(token, 'latin1').toString('latin1')
    this.#claims.set(copy, claims)
  }
}
