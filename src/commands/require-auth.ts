/** Requires a secret that tokens can be signed with. @module */

import { environmentSigning, signingProblem } from '../auth/secret.js'
import { UsageError } from '../usage-error.js'

/** Sets a random secret of 32 bytes. */
const setSecret = `JWT_SECRET=$(node -p "crypto.randomBytes(32).toString('base64url')")`

/**
 * Checks that tokens can be signed and verified.
 * @throws {UsageError} that says what is wrong with `JWT_SECRET` or `JWT_ALGORITHM`.
 */
export function requireAuth(): void {
  const problem = signingProblem(environmentSigning)
  if (problem === undefined) return
  const remedy = process.env.JWT_SECRET ? '' : `; generate one with: export ${setSecret}`
  throw new UsageError(`${problem}${remedy}`)
}
