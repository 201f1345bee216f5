/** The states of something, one after the other, by reads that wait for a change (interface §4.10). @module */

import { ItemStoreError } from './item-store-error.js'
import { backoff } from './retry.js'
import { isItemMissing } from './sender.js'
import { type Signal, wait } from './wait.js'

/** Longest wait in seconds: many proxies end a request after 60. */
const longestWait = 40
/** Before the next read, in milliseconds, so that what changes without end is read ten times a second at most. */
const shortPause = 100

/** The head of a response, and the state in it; `undefined` for the same as before. */
type StateRead<State> = readonly [head: Response, state?: State]

/**
 * The present state, then each that a later read finds, until the signal is aborted or the item is deleted.
 * @param read sends a request with these headers.
 * @param timeout of a request, in milliseconds.
 */
export async function* statesOf<State>(
  read: (headers: Record<string, string>) => Promise<StateRead<State>>,
  timeout: number,
  signal: Signal,
): AsyncGenerator<State, void, void> {
  const seconds = Math.floor(Math.min(longestWait, timeout / 1500)) // two thirds of the timeout, in seconds
  let known: string | null | undefined
  for (let failures = 0; ; ) {
    let pause = shortPause
    try {
      const condition = known ? { 'if-none-match': known, prefer: `wait=${seconds}` } : {}
      const [{ headers }, state] = await read(condition as Record<string, string>) // without undefined members
      const tag = headers.get('etag')
      const isNew = tag !== known
      if (!isNew && !headers.has('preference-applied')) pause = backoff({}, 9) // the longest
      known = tag
      failures = 0
      if (state !== undefined && (isNew || !tag)) yield state
    } catch (error) {
      if (known === undefined || !(error instanceof ItemStoreError)) throw error
      if (isItemMissing(error)) return
      const { code, status = 500 } = error
      // What may pass, as when a service restarts, behind a proxy too.
      if (status < 500 && code !== 'CONNECTION_LOST') throw error
      pause = backoff(error, failures)
      failures += 1
    }
    await wait(pause, signal)
  }
}
