/** The keys and the algorithm for tokens: `JWT_SECRET` or `JWT_SECRET_FILE`, and `JWT_ALGORITHM` (spec §5.5). @module */

import { createSecretKey, type KeyObject } from 'node:crypto'
import { ApiError } from '../interface/errors.js'
import { secretFileProblem, secretsIn } from './secret-file.js'
import { TokenCache } from './token-cache.js'

/** The HMAC algorithms of RFC 7518 §3.2, with the names of their hashes in OpenSSL. */
export const hashes = { HS256: 'sha256', HS384: 'sha384', HS512: 'sha512' } as const
type Algorithm = keyof typeof hashes

/** One secret, or several, of which the first signs and all verify. */
type Secrets = string | readonly string[]

/** Secrets with one algorithm. A change of either makes a new `Signing`. */
export interface Signing {
  readonly secrets: Secrets
  readonly algorithm: Algorithm
  /** One for each secret. */
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
    const secrets = secretsIn(env.JWT_SECRET_FILE)
    if (secrets.length === 0) throw notConfigured(secretFileProblem(env.JWT_SECRET_FILE) ?? '')
    return secrets
  },
  () => process.env.JWT_ALGORITHM || 'HS256',
)

/** Why tokens cannot be signed or verified now; `undefined` if they can. */
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
  return {
    secrets,
    algorithm,
    keys: [keyOf(first), ...others.map(keyOf)],
    verified: new TokenCache(),
  }
}

/** @throws {ApiError} `AUTH_NOT_CONFIGURED`. */
function keyOf(secret: string): KeyObject {
  const bytes = Buffer.from(secret)
  // What is invalid in UTF-8 or Unicode becomes this character, so many secrets would be the same one, easily guessed.
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
