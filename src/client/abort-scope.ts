/** What ends one call of the client early: its caller's signal, or a step that takes too long. @module */

import { ItemStoreError } from './item-store-error.js'

/** The longest delay that a timer takes, in milliseconds: with more, it fires at once. */
export const longestDelay = 2 ** 31 - 1

export interface AbortScope {
  /** Aborted by the caller or by a timeout; nothing more can be awaited then. */
  readonly signal: AbortSignal
  /**
   * Awaits an operation.
   * @throws {ItemStoreError} `TIMEOUT`.
   * @throws the reason of the caller's signal, or whatever the operation throws.
   */
  withTimeout<T>(operation: () => T | Promise<T>): Promise<T>
  /** @param time in milliseconds. @throws the reason of the caller's signal. */
  sleep(time: number): Promise<void>
  /** The call is over: stops listening to the caller's signal. */
  dispose(): void
}

/** @param timeout of each operation, in milliseconds; at most {@link longestDelay}. */
export function createAbortScope(timeout: number, caller: AbortSignal | undefined): AbortScope {
  const controller = new AbortController()
  const { signal } = controller
  const abort = () => controller.abort(caller?.reason)
  if (caller?.aborted) abort()
  const dispose = caller ? onAbort(caller, abort) : () => {}

  /** A new promise for each operation: one shared by all would retain a little of every one. */
  async function orAborted<T>(operation: () => T | Promise<T>): Promise<T> {
    let fail = () => {}
    const aborted = new Promise<never>((_, reject) => {
      fail = () => reject(signal.reason)
    })
    signal.addEventListener('abort', fail)
    try {
      signal.throwIfAborted()
      return await Promise.race([operation(), aborted])
    } finally {
      signal.removeEventListener('abort', fail)
    }
  }

  return {
    signal,

    async withTimeout(operation) {
      const timer = setTimeout(() => {
        const message = `No answer within ${timeout} ms`
        controller.abort(new ItemStoreError(message, { code: 'TIMEOUT' }))
      }, timeout)
      try {
        return await orAborted(operation)
      } finally {
        clearTimeout(timer)
      }
    },

    async sleep(time) {
      let timer: ReturnType<typeof setTimeout> | undefined
      try {
        await orAborted(
          () =>
            new Promise<void>((resolve) => {
              timer = setTimeout(resolve, Math.min(time, longestDelay))
            }),
        )
      } finally {
        clearTimeout(timer)
      }
    },

    dispose,
  }
}

const listeners = new WeakMap<AbortSignal, ReturnType<typeof createListener>>()

/**
 * Calls the action when the signal is aborted. Any number of calls may have the same signal, so they share
 * one listener: Node.js takes more than ten on one signal for a leak, and prints a warning.
 * @returns removes the action, and after the last one the listener.
 */
function onAbort(signal: AbortSignal, action: () => void): () => void {
  const listener = listeners.get(signal) ?? createListener()
  const { actions } = listener
  listeners.set(signal, listener)
  signal.addEventListener('abort', listener) // adding it again changes nothing
  actions.add(action)
  return () => {
    actions.delete(action)
    if (actions.size === 0) signal.removeEventListener('abort', listener)
  }
}

function createListener() {
  const actions = new Set<() => void>()
  const handleEvent = () => {
    for (const action of actions) action()
  }
  return { actions, handleEvent }
}
