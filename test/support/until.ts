/** Waiting for what happens in another process. */

import { setTimeout as delay } from 'node:timers/promises'

/** Longest time to wait, in milliseconds: short once something did not happen, so that a file ends. */
let patience = 20_000

/**
 * Asks again and again until there is an answer.
 * @param check gives `undefined` or `false` while there is none.
 * @throws {Error} that names what did not happen, after 20 seconds, or after two where
 * something did not happen before.
 */
export async function until<T>(
  what: string,
  check: () => T | undefined | false | Promise<T | undefined | false>,
): Promise<T> {
  const deadline = Date.now() + patience
  while (Date.now() < deadline) {
    const answer = await check()
    if (answer !== undefined && answer !== false) return answer
    await delay(20)
  }
  patience = 2_000
  throw new Error(`did not happen: ${what}`)
}
