/** Errors for the user to correct. @module */

/** Reported in one line for each problem, without a stack; the command ends with exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
