/** Waits that the caller's signal ends early. @module */

import { ItemStoreError } from './item-store-error.js'

/** The longest wait, in milliseconds: a timer of 2 ** 31 fires at once. */
export const longestDelay = 2e9

export type Signal = AbortSignal | undefined

/**
 * Waits for a time in milliseconds, or for an operation that may not take longer.
 * @throws the reason of the signal once that is aborted; then the operation is not begun.
 * @throws {ItemStoreError} `TIMEOUT`.
 */
export function wait(time: number, signal: Signal): Promise<void>
export function wait<T>(time: number, signal: Signal, operation: () => T | Promise<T>): Promise<T>
export async function wait<T>(
  time: number,
  signal: Signal,
  operation?: () => T | Promise<T>,
): Promise<T | undefined> {
  signal?.throwIfAborted()
  let timer: ReturnType<typeof setTimeout> | undefined
  let unlisten: (() => void) | undefined
  const end = new Promise<undefined>((resolve, reject) => {
    unlisten = signal && onAbort(signal, () => reject(signal.reason))
    const finish = () => {
      if (!operation) resolve(undefined)
      else reject(new ItemStoreError(`No response within ${time} ms`, { code: 'TIMEOUT' }))
    }
    timer = setTimeout(finish, Math.min(time, longestDelay))
  })
  try {
    return await Promise.race([end, operation ? operation() : end])
  } finally {
    clearTimeout(timer)
    unlisten?.()
  }
}

/** What is called when a signal is aborted. */
class Actions extends Set<() => void> {
  handleEvent(): void {
    for (const action of this) action()
  }
}

const listeners = new WeakMap<AbortSignal, Actions>()

/**
 * Calls the action when the signal is aborted. Any number of calls may have the same signal, so they share
 * one listener: Node.js takes more than ten on one signal for a leak, and prints a warning.
 * @returns removes the action, and after the last one the listener.
 */
function onAbort(signal: AbortSignal, action: () => void): () => void {
  const actions = listeners.get(signal) ?? new Actions()
  listeners.set(signal, actions)
  signal.addEventListener('abort', actions) // adding it again changes nothing
  actions.add(action)
  return () => {
    actions.delete(action)
    if (!actions.size) signal.removeEventListener('abort', actions)
  }
}
