/** A secret that tokens can be signed with. @module */

import { authFault } from '../auth/secret.js'
import { UsageError } from '../usage-error.js'

/** Command that makes a secret of 32 bytes. */
const makeSecret = `JWT_SECRET=$(node -p "crypto.randomBytes(32).toString('base64url')")`

/**
 * Makes sure that tokens can be signed and verified.
 * @throws {UsageError} that says what is wrong with `JWT_SECRET` or `JWT_ALGORITHM`.
 */
export function needAuth(): void {
  const problem = authFault()
  if (problem === undefined) return
  const remedy = process.env.JWT_SECRET ? '' : `; make one with: export ${makeSecret}`
  throw new UsageError(`${problem}${remedy}`)
}
