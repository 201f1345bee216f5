/** Waits until a condition holds, for example in another process. */

import { setTimeout as delay } from 'node:timers/promises'

/**
 * Maximum times to wait, in milliseconds. The usual time is enough on a busy machine. After a failure, the maximum is
 * short, so that the test file ends soon.
 */
const timeouts = { usual: 120_000, afterFailure: 2_000 }
let hasFailed = false

/**
 * Polls until `check` returns a result.
 * @param what the awaited event, for the error message.
 * @param check returns `undefined` or `false` as long as there is no result.
 * @param time maximum time to wait, in milliseconds.
 * @throws {Error} after this time, or after two seconds if an earlier wait has failed.
 */
export async function until<T>(
  what: string,
  check: () => T | undefined | false | Promise<T | undefined | false>,
  time = timeouts.usual,
): Promise<T> {
  const deadline = Date.now() + (hasFailed ? timeouts.afterFailure : time)
  while (Date.now() < deadline) {
    const answer = await check()
    if (answer !== undefined && answer !== false) return answer
    await delay(20)
  }
  hasFailed = true
  throw new Error(`did not happen: ${what}`)
}
