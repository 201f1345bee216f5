/** Waits for something to happen in another process. */

import { setTimeout as delay } from 'node:timers/promises'

/**
 * Maximum times to wait, in milliseconds: longer than anything takes on a busy machine, and short after a failure, so
 * that the file still ends.
 */
const timeouts = { usual: 120_000, afterFailure: 2_000 }
let hasFailed = false

/**
 * Polls until there is an answer.
 * @param check returns `undefined` or `false` while there is none.
 * @param time maximum time to wait, in milliseconds, for things that take long on a busy machine.
 * @throws {Error} that names what did not happen, after that time, or after two seconds if an earlier
 * wait has failed.
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
