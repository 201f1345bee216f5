/** What a command does about the `JWT_SECRET` that it has, or does not have. @module */

import { randomBytes } from 'node:crypto'
import { environmentSigning, signingProblem } from '../auth/secret.js'
import { UsageError } from './usage-error.js'

/** In bytes (RFC 7518 §3.2). */
const recommendedLength = 32

/** Sets a random secret of the recommended length. */
const exportSecret = `export JWT_SECRET=$(node -p "crypto.randomBytes(${recommendedLength}).toString('base64url')")`

/** What to do without a secret, in order to get a token that a service accepts. */
const toSign =
  'use the secret of the service, which accepts no other. Without a JWT_SECRET, dev accepts only the token that it prints; for more, put a JWT_SECRET into .env'

/**
 * Checks that tokens can be signed and verified.
 * @throws {UsageError} that says what is wrong with `JWT_SECRET` or `JWT_ALGORITHM`.
 */
export function requireSecret(): void {
  const problem = signingProblem(environmentSigning)
  if (problem === undefined) return
  throw new UsageError(process.env.JWT_SECRET ? problem : `${problem}; ${toSign}`)
}

/** Why a service that has started can verify no token, and what to type; `undefined` if it can. */
export function missingSecretError(): string | undefined {
  const problem = signingProblem(environmentSigning)
  if (problem === undefined) return undefined
  const remedy = problem.startsWith('JWT_ALGORITHM') ? 'unset JWT_ALGORITHM' : exportSecret
  return `${problem}: item requests get 503. Stop the service, type ${remedy} and start it again`
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
  if (length === 0 || length >= recommendedLength) return undefined
  return `JWT_SECRET has only ${length} of the recommended ${recommendedLength} bytes`
}
