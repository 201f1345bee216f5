/** Waiting for what happens in another process. */

import { setTimeout as delay } from 'node:timers/promises'

/** Longest times to wait, in milliseconds: short once something did not happen, so that a file ends. */
const patience = { usual: 20_000, afterFailure: 2_000 }
let hasFailed = false

/**
 * Asks again and again until there is an answer.
 * @param check gives `undefined` or `false` while there is none.
 * @param time longest time to wait, in milliseconds, for what takes long on a busy machine.
 * @throws {Error} that names what did not happen, after that time, or after two seconds where
 * something did not happen before.
 */
export async function until<T>(
  what: string,
  check: () => T | undefined | false | Promise<T | undefined | false>,
  time = patience.usual,
): Promise<T> {
  const deadline = Date.now() + (hasFailed ? patience.afterFailure : time)
  while (Date.now() < deadline) {
    const answer = await check()
    if (answer !== undefined && answer !== false) return answer
    await delay(20)
  }
  hasFailed = true
  throw new Error(`did not happen: ${what}`)
}
