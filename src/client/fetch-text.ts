/** Fetches a response whose body arrives as parts of text; waits with a timeout and a signal. @module */

import { ItemStoreError, invalidResponse, membersOf } from './item-store-error.js'
import { TextResponse } from './item-texts.js'
import type { Fetch } from './options.js'

/** Matches parts of up to 65,536 characters. Megabytes in one part would keep a page busy for long. */
const shortParts = /.{1,65536}/gs

/**
 * Error codes of Node.js for a failed connect: connection refused, name not resolved, or timeout. A connection that
 * breaks later has other codes, and browsers give no code.
 */
const notConnected = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT']

/**
 * Sends a request and waits for the head of the response, whatever its status.
 * @param timeout longest wait for the head, and for each part of the body, in milliseconds.
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

  /** Waits for a network operation, and turns its failure into an `ItemStoreError`. */
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
    if (!reader) return // a 204 has no body
    const decoder = new TextDecoder('utf-8', { fatal: true })
    try {
      for (;;) {
        const { done, value } = await outcomeOf(() => reader.read(), response)
        let text: string
        try {
          text = decoder.decode(value, { stream: !done })
        } catch {
          throw invalidResponse(response) // not UTF-8: replacement characters would change the text
        }
        yield* text.match(shortParts) ?? []
        if (done) return
      }
    } finally {
      reader.cancel().catch(() => undefined) // rejects if the body has failed already
    }
  }

  // Following a redirect would turn a create into a GET, and could send the token to another host.
  const options: RequestInit = { ...init, redirect: 'manual', signal: own.signal }
  try {
    const head = await outcomeOf(() => fetch(url, options))
    return new TextResponse(head, partsOf(head))
  } catch (error) {
    own.abort()
    throw error
  }
}

/** Longest wait in milliseconds. `setTimeout` fires at once for 2 ** 31 or more. */
export const longestTimer = 2e9

export type Signal = AbortSignal | undefined

/**
 * Waits for a time in milliseconds, or for an operation that is limited to this time.
 * @throws the reason of the signal when it is aborted. If it was aborted before, the operation is not started.
 * @throws {ItemStoreError} `TIMEOUT` if the operation takes longer.
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

/** Functions to call when a signal is aborted. */
class Actions extends Set<() => void> {
  handleEvent(): void {
    for (const action of this) action()
  }
}

const listeners = new WeakMap<AbortSignal, Actions>()

/**
 * Calls the action when the signal is aborted. All calls with the same signal share one listener, because Node.js warns
 * of a leak when a signal has more than ten.
 * @returns a function that removes the action, and with the last action the listener.
 */
function onAbort(signal: AbortSignal, action: () => void): () => void {
  const actions = listeners.get(signal) ?? new Actions()
  listeners.set(signal, actions)
  signal.addEventListener('abort', actions) // no effect if it is already added
  actions.add(action)
  return () => {
    actions.delete(action)
    if (!actions.size) signal.removeEventListener('abort', actions)
  }
}
