/** Fetches a response, whose body is text that arrives in parts; waits that a time or a signal ends. @module */

import { ItemStoreError, invalidResponse, membersOf } from './item-store-error.js'
import { TextResponse } from './item-texts.js'
import type { Fetch } from './options.js'

/** Cuts a text into parts. What has arrived while a page was busy can be megabytes, which would keep it busy for long. */
const shortParts = /.{1,65536}/gs

/**
 * What Node.js reports when it could not connect: connection refused, name not resolved, or no connection
 * in time. It reports something else for a connection that breaks, and a browser never says why.
 */
const notConnected = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT']

/**
 * Sends a request and waits for the head of the response, whatever its status.
 * @param timeout for the head, and for each part of the body, in milliseconds.
 * @throws {ItemStoreError} `NOT_CONNECTED`, `CONNECTION_LOST` or `TIMEOUT`.
 */
export async function fetchText(
  fetch: Fetch,
  url: string,
  init: RequestInit,
  timeout: number,
  signal: Signal,
): Promise<TextResponse> {
  const own = new AbortController()

  /** Waits for a network operation, whose failure becomes an error of this client. */
  const outcomeOf = <T>(operation: () => Promise<T>, response?: Response): Promise<T> =>
    wait(timeout, signal, async () => {
      try {
        return await operation()
      } catch (cause) {
        const { code } = membersOf(membersOf(cause).cause)
        const isUnsent = !response && notConnected.includes(`${code}`)
        throw new ItemStoreError(
          `${isUnsent ? 'Cannot connect to' : 'No complete response from'} ${url}`,
          { code: isUnsent ? 'NOT_CONNECTED' : 'CONNECTION_LOST', cause, response },
        )
      }
    })

  async function* partsOf(response: Response): AsyncGenerator<string, void, void> {
    const reader = response.body?.getReader()
    if (!reader) return // as with a 204
    const decoder = new TextDecoder('utf-8', { fatal: true })
    try {
      for (;;) {
        const { done, value } = await outcomeOf(() => reader.read(), response)
        let text: string
        try {
          text = decoder.decode(value, { stream: !done })
        } catch {
          throw invalidResponse(response) // not UTF-8: replacement characters would not be exact
        }
        yield* text.match(shortParts) ?? []
        if (done) return
      }
    } finally {
      reader.cancel().catch(() => undefined) // it has failed already
    }
  }

  // Following a redirect would turn a create into a GET, and send the token who knows where.
  const options: RequestInit = { ...init, redirect: 'manual', signal: own.signal }
  try {
    const head = await outcomeOf(() => fetch(url, options))
    return new TextResponse(head, partsOf(head))
  } catch (error) {
    own.abort()
    throw error
  }
}

/** The longest wait, in milliseconds: a timer of 2 ** 31 fires at once. */
export const longestTimer = 2e9

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
    timer = setTimeout(finish, Math.min(time, longestTimer))
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
