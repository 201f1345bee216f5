/** Follows what is stored by reads that wait (interface §4.10), and changes it while others change it too. @module */

import { hasCode, ItemStoreError } from './item-store-error.js'
import { backoff, isItemMissing, type RetryLimits, retryDelay } from './sender.js'

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
 * @param sleep waits for so many milliseconds, or throws when the signal is aborted.
 */
export async function* statesOf<State>(
  read: (headers: Record<string, string>) => Promise<StateRead<State>>,
  timeout: number,
  sleep: (time: number) => Promise<void>,
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
    await sleep(pause)
  }
}

/** 16 clients that change one item without a pause need up to 22, and 64 of them up to 47. */
const mostAttempts = 100

/**
 * Makes a change.
 * @param make what the state is to become; `undefined` for no change.
 * @param write throws `PRECONDITION_FAILED` if the state is another one meanwhile.
 * @param isOnce whether not to begin again when the outcome of a write is unknown.
 * @param sleep waits for so many milliseconds.
 * @returns the state after it.
 */
export async function makeChange<State, Data>(
  read: () => Promise<State>,
  make: (state: State) => Promise<Data | undefined>,
  write: (data: Data, state: State) => Promise<State>,
  isOnce: boolean,
  limits: RetryLimits,
  sleep: (time: number) => Promise<void>,
): Promise<State> {
  for (let attempts = 1, lost = 0; ; attempts += 1) {
    const state = await read()
    const data = await make(state)
    if (data === undefined) return state
    try {
      return await write(data, state)
    } catch (error) {
      const isConflict = hasCode(error, 'PRECONDITION_FAILED') && attempts < mostAttempts
      // Conflicts are over sooner than failures: a tenth of their delays is 20 ms at first.
      const delay = isConflict
        ? backoff({}, attempts) / 10
        : retryDelay(error, isOnce, lost, limits)
      if (delay === undefined) throw error
      if (!isConflict) lost += 1
      await sleep(delay)
    }
  }
}
