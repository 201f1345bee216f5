/** Waits until a condition holds, for example in another process. */

import { setTimeout as delay } from 'node:timers/promises'

/** Maximum times to wait, in milliseconds. After a failure, waits are short, so that the test file ends soon. */
const timeouts = { usual: 120_000, afterFailure: 2_000 }
let hasFailed = false

/** @param what names the awaited event in the error message. @throws {Error} after `time` milliseconds. */
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
