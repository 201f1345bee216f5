/** Waits of one call, which end when they take too long or when the caller aborts. @module */

import { ItemStoreError } from './item-store-error.js'

/** The longest time that a timer can take, in milliseconds: beyond it, timers end at once. */
export const longestWait = 2 ** 31 - 1

export interface Waiting {
  /** Aborted by the caller, or by a wait that took too long: then no further wait is possible. */
  readonly signal: AbortSignal
  /**
   * Waits for the outcome of an action.
   * @throws {ItemStoreError} `TIMEOUT`.
   * @throws the reason of the caller's signal, or whatever the action throws.
   */
  until<T>(action: () => T | Promise<T>): Promise<T>
  /** Waits for a time, in milliseconds. @throws the reason of the caller's signal. */
  pause(time: number): Promise<void>
  /** The call is over: lets go of the caller's signal. */
  end(): void
}

/** @param timeout longest time of each wait, in milliseconds; at most {@link longestWait}. */
export function startWaiting(timeout: number, caller: AbortSignal | undefined): Waiting {
  const controller = new AbortController()
  const { signal } = controller
  const abort = () => controller.abort(caller?.reason)
  if (caller?.aborted) abort()
  const end = caller ? onAbort(caller, abort) : () => {}

  /** A promise of its own for each wait: one for all would keep something of every wait. */
  async function orAborted<T>(action: () => T | Promise<T>): Promise<T> {
    let stop = () => {}
    const aborted = new Promise<never>((_, reject) => {
      stop = () => reject(signal.reason)
    })
    signal.addEventListener('abort', stop)
    try {
      signal.throwIfAborted()
      return await Promise.race([action(), aborted])
    } finally {
      signal.removeEventListener('abort', stop)
    }
  }

  return {
    signal,

    async until(action) {
      const timer = setTimeout(() => {
        const message = `No answer within ${timeout} ms`
        controller.abort(new ItemStoreError(message, { code: 'TIMEOUT' }))
      }, timeout)
      try {
        return await orAborted(action)
      } finally {
        clearTimeout(timer)
      }
    },

    async pause(time) {
      let timer: ReturnType<typeof setTimeout> | undefined
      try {
        await orAborted(
          () =>
            new Promise<void>((resolve) => {
              timer = setTimeout(resolve, time)
            }),
        )
      } finally {
        clearTimeout(timer)
      }
    },

    end,
  }
}

const listeners = new WeakMap<AbortSignal, ReturnType<typeof createListener>>()

/**
 * Calls the action when the signal is aborted. Any number of calls may share a signal, so they share a
 * listener: Node.js takes more than ten on one signal for a leak, and prints a warning.
 * @returns lets go of the action, and of the signal after the last one.
 */
function onAbort(signal: AbortSignal, action: () => void): () => void {
  const listener = listeners.get(signal) ?? createListener()
  const { actions } = listener
  listeners.set(signal, listener)
  signal.addEventListener('abort', listener) // the same one again changes nothing
  actions.add(action)
  return () => {
    actions.delete(action)
    if (actions.size === 0) signal.removeEventListener('abort', listener)
  }
}

function createListener() {
  const actions = new Set<() => void>()
  const handleEvent = () => {
    for (const act of actions) act()
  }
  return { actions, handleEvent }
}
