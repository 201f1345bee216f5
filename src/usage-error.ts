/** What the user has to put right. @module */

/** Told in one line for each problem, without a stack, and ends the command with exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
