/** Makes sure that a command has a `JWT_SECRET` to work with. @module */

import { randomBytes } from 'node:crypto'
import { environmentSigning, signingProblem } from '../auth/secret.js'
import { UsageError } from './usage-error.js'

/** In bytes (RFC 7518 §3.2). */
const recommendedLength = 32

/** Sets a random secret of the recommended length. */
const exportSecret = `export JWT_SECRET=$(node -p "crypto.randomBytes(${recommendedLength}).toString('base64url')")`

/** What to do without a secret, in order to serve. */
const toServe = `generate one with: ${exportSecret}`

/** What to do without a secret, in order to get a token that a service accepts. */
export const toSign =
  'use the secret of the service, which accepts no other. Without a JWT_SECRET, dev accepts only the token that it prints; for more, put a JWT_SECRET into .env'

/**
 * Checks that tokens can be signed and verified.
 * @param remedy what to do if there is no secret.
 * @throws {UsageError} that says what is wrong with `JWT_SECRET` or `JWT_ALGORITHM`.
 */
export function requireSecret(remedy = toServe): void {
  const problem = signingProblem(environmentSigning)
  if (problem === undefined) return
  throw new UsageError(process.env.JWT_SECRET ? problem : `${problem}; ${remedy}`)
}

/**
 * Sets a random `JWT_SECRET` for this process if there is none.
 * @returns whether there was one.
 */
export function defaultToRandomSecret(): boolean {
  if (process.env.JWT_SECRET) return true
  process.env.JWT_SECRET = randomBytes(recommendedLength).toString('base64url')
  return false
}

/** What to tell the operator about a secret that is shorter than recommended, without showing it. */
export function shortSecretWarning(): string | undefined {
  const length = Buffer.byteLength(process.env.JWT_SECRET ?? '')
  if (length >= recommendedLength) return undefined
  return `JWT_SECRET has only ${length} of the recommended ${recommendedLength} bytes`
}
