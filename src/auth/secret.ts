/** The key and algorithm for tokens: `JWT_SECRET` and `JWT_ALGORITHM` (spec §5.5). @module */

import { createSecretKey, type KeyObject } from 'node:crypto'
import { ApiError } from '../interface/errors.js'
import { TokenCache } from './token-cache.js'

/** The HMAC algorithms of RFC 7518 §3.2, with the names of their hashes in OpenSSL. */
export const hashes = { HS256: 'sha256', HS384: 'sha384', HS512: 'sha512' } as const
type Algorithm = keyof typeof hashes

/** One secret with one algorithm. A change of either makes a new `Signing`. */
export interface Signing {
  readonly secret: string
  readonly algorithm: Algorithm
  readonly key: KeyObject
  /** The tokens verified with this key, forgotten along with it. */
  readonly verified: TokenCache
}

/** Returns the current key and algorithm. @throws {ApiError} `AUTH_NOT_CONFIGURED`. */
export type CurrentSigning = () => Signing

/**
 * The key for a secret that may change at any time; it is reused until the secret or the algorithm does.
 * @param secret returns the current secret; empty or `undefined` for none.
 * @param algorithm returns the current algorithm.
 */
export function followSecret(
  secret: () => string | undefined,
  algorithm: () => string = () => 'HS256',
): CurrentSigning {
  let latest: Signing | undefined
  return () => {
    const [current, name] = [secret() ?? '', algorithm()]
    if (latest?.secret === current && latest.algorithm === name) return latest
    latest = createSigning(current, name)
    return latest
  }
}

/**
 * The current key and algorithm, from `JWT_SECRET` and `JWT_ALGORITHM`. The environment is read each time,
 * because any code in this process may change it; that takes half a microsecond.
 * @throws {ApiError} `AUTH_NOT_CONFIGURED`.
 */
export const environmentSigning: CurrentSigning = followSecret(
  () => process.env.JWT_SECRET,
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
export function createSigning(secret: string, algorithm: string): Signing {
  if (secret === '') throw notConfigured('JWT_SECRET is not set')
  const bytes = Buffer.from(secret)
  // What is invalid in UTF-8 or Unicode becomes this character, so many secrets would be the same one, easily guessed.
  if (bytes.includes('\ufffd')) {
    throw notConfigured('JWT_SECRET is not valid UTF-8')
  }
  if (!isAlgorithm(algorithm)) {
    throw notConfigured(`JWT_ALGORITHM is not one of ${Object.keys(hashes).join(', ')}`)
  }
  return {
    secret,
    algorithm,
    key: createSecretKey(bytes),
    verified: new TokenCache(),
  }
}

function isAlgorithm(name: string): name is Algorithm {
  return Object.hasOwn(hashes, name)
}

/** @param cause for the log and the operator, but not for clients. */
function notConfigured(cause: string): ApiError {
  const message = 'The service has no usable JWT_SECRET or JWT_ALGORITHM'
  return new ApiError('AUTH_NOT_CONFIGURED', message, { cause })
}
