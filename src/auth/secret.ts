/** Signing keys and algorithm of access tokens (spec §5.5), and a cache of verified tokens. @module */

import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import { ApiError } from '../interface/errors.js'
import type { TokenPayload } from '../interface/models.js'
import { secretFile } from './secret-file.js'

const hashes = { HS256: 'sha256', HS384: 'sha384', HS512: 'sha512' } as const // OpenSSL's names (RFC 7518 §3.2)
type Algorithm = keyof typeof hashes

export type VerifiedToken = Pick<TokenPayload, 'sub' | 'exp'>

type Secrets = string | readonly string[]

export interface Signing {
  readonly secrets: Secrets
  readonly algorithm: Algorithm
  readonly keys: readonly [KeyObject, ...KeyObject[]]
  readonly verified: TokenCache
}

/** Returns the current signing keys. @throws {ApiError} `AUTH_NOT_CONFIGURED` if no secret or algorithm is usable. */
export type CurrentSigning = () => Signing

/** Caches the signing keys. @param secrets must return the same array object until a secret changes. */
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

/** Reads environment variables on each call (0.5 µs), because a program may change them at any time. */
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

/** Returns why tokens cannot be signed or verified; `undefined` if they can. */
export function signingProblem(currentSigning: CurrentSigning): string | undefined {
  try {
    currentSigning()
    return undefined
  } catch (error) {
    if (error instanceof ApiError) return String(error.cause)
    throw error
  }
}

function createSigning(secrets: Secrets, algorithm: string): Signing {
  const [first, ...others] = typeof secrets === 'string' ? [secrets] : secrets
  if (!first) throw notConfigured('JWT_SECRET is not set')
  if (!isAlgorithm(algorithm)) {
    throw notConfigured(`JWT_ALGORITHM is not one of ${Object.keys(hashes).join(', ')}`)
  }
  const keys: Signing['keys'] = [keyOf(first), ...others.map(keyOf)]
  return { secrets, algorithm, keys, verified: new TokenCache() }
}

function keyOf(secret: string): KeyObject {
  const bytes = Buffer.from(secret)
  // Encoding turns every lone surrogate into U+FFFD, and a secret with many U+FFFD is easy to guess.
  if (bytes.includes('\ufffd')) throw notConfigured('JWT_SECRET is not valid UTF-8')
  return createSecretKey(bytes)
}

function isAlgorithm(name: string): name is Algorithm {
  return Object.hasOwn(hashes, name)
}

function notConfigured(cause: string): ApiError {
  const message = 'The service has no usable JWT_SECRET or JWT_ALGORITHM'
  return new ApiError('AUTH_NOT_CONFIGURED', message, { cause })
}

/** @param lifetime in seconds. */
export function signToken(sub: string, lifetime: number, signing = environmentSigning()): string {
  const iat = Math.floor(Date.now() / 1000)
  const payload: TokenPayload = { sub, iat, exp: iat + lifetime }
  const input = [{ alg: signing.algorithm, typ: 'JWT' }, payload]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  return `${input}.${signatureOf(input, signing.algorithm, signing.keys[0])}`
}

export function signatureOf(input: string, algorithm: Algorithm, key: KeyObject): string {
  return createHmac(hashes[algorithm], key).update(input).digest('base64url')
}

const maxBytes = 8 * 1024 * 1024 // in bytes, enough for 20,000 tokens of 170 characters
const entryBytes = 200 // without the token and `sub`

class TokenCache extends Map<string, VerifiedToken> {
  #bytes = 0

  override set(token: string, claims: VerifiedToken): this {
    const bytes = entryBytes + token.length + 2 * claims.sub.length // V8 stores up to 2 bytes per character
    this.#bytes += bytes
    if (this.#bytes > maxBytes) {
      this.clear()
      this.#bytes = bytes
    }
    // Copies the token, because V8 would keep the whole request head (up to 16 KiB) for a substring of it.
    return super.set(Buffer.from(token, 'latin1').toString('latin1'), claims)
  }
}
