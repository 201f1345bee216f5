/** Errors that the user can correct, and advice for them. @module */

import { types } from 'node:util'

/** Makes the command print one line per problem, and exit with code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

export function messageOf(thrown: unknown): string {
  return types.isNativeError(thrown) ? thrown.message : String(thrown)
}

/** Returns an error's code, such as `ENOENT`. Avoids `instanceof`, which fails for Node.js errors in a test runner. */
export function codeOf(thrown: unknown): string | undefined {
  return types.isNativeError(thrown) && 'code' in thrown ? String(thrown.code) : undefined
}

/** Replaces an error of `listen` with advice, if there is any. */
export function explainListenError(
  error: unknown,
  port: number,
  host: string,
  flags: '--' | '--metrics-',
): unknown {
  const noAddress = `${host} is not an address of this machine; choose another address with ${flags}host`
  const problems: Partial<Record<string, string>> = {
    EADDRINUSE: `port ${port} is in use; stop the program that uses it or choose another port with ${flags}port`,
    EACCES: `no permission to listen on port ${port}; choose one above 1023 with ${flags}port`,
    EADDRNOTAVAIL: noAddress,
    EAFNOSUPPORT: noAddress,
    EAI_AGAIN: noAddress,
    EINVAL: noAddress,
    ENOTFOUND: noAddress,
  }
  const problem = problems[codeOf(error) ?? '']
  return problem ? new UsageError(problem) : error
}
