/** Fetches responses as text, in parts. A timeout and an `AbortSignal` limit each wait. @module */

import { ItemStoreError, invalidResponse, membersOf } from './item-store-error.js'
import { TextResponse } from './item-texts.js'
import type { Fetch } from './options.js'

/** Matches up to 65,536 characters. Handling more characters at once would block a page for too long. */
const shortParts = /.{1,65536}/gs

/** Error codes with which Node.js reports that a request was not sent. Browsers have no such codes. */
const notConnected = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT']

/** Resolves when the response headers arrive. `timeout` limits each wait for data, in ms. @throws {ItemStoreError} */
export async function fetchText(
  fetch: Fetch,
  url: string,
  init: RequestInit,
  timeout: number,
  signal: Signal,
): Promise<TextResponse> {
  const own = new AbortController()

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
    if (!reader) return // a 204 response has no body
    const decoder = new TextDecoder('utf-8', { fatal: true })
    try {
      for (;;) {
        const { done, value } = await outcomeOf(() => reader.read(), response)
        let text: string
        try {
          text = decoder.decode(value, { stream: !done })
        } catch {
          throw invalidResponse(response) // the part is not UTF-8, and replacement characters would change the text
        }
        yield* text.match(shortParts) ?? []
        if (done) return
      }
    } finally {
      reader.cancel().catch(() => undefined) // rejects if reading the body has already failed
    }
  }

  // Following a redirect could turn a create into a GET, and send the token to a different host.
  const options: RequestInit = { ...init, redirect: 'manual', signal: own.signal }
  try {
    const head = await outcomeOf(() => fetch(url, options))
    return new TextResponse(head, partsOf(head))
  } catch (error) {
    own.abort()
    throw error
  }
}

/** Longest delay for `setTimeout`, in milliseconds. A timer of 2 ** 31 ms or more would fire immediately. */
export const longestTimer = 2e9

type Signal = AbortSignal | undefined

/** Waits for `time` ms. If `operation` is given, returns its result instead, or throws `TIMEOUT` after `time` ms. */
export function wait(time: number, signal: Signal): Promise<void>
export function wait<T>(time: number, signal: Signal, operation: () => T | Promise<T>): Promise<T>
export async function wait<T>(time: number, signal: Signal, operation?: () => T | Promise<T>) {
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

class Actions extends Set<() => void> {
  handleEvent(): void {
    for (const action of this) action()
  }
}

const listeners = new WeakMap<AbortSignal, Actions>()

/** Callbacks for the same signal share one listener, because Node.js warns if a signal has more than ten. */
function onAbort(signal: AbortSignal, action: () => void): () => void {
  const actions = listeners.get(signal) ?? new Actions()
  listeners.set(signal, actions)
  signal.addEventListener('abort', actions)
  actions.add(action)
  return () => {
    actions.delete(action)
    if (!actions.size) signal.removeEventListener('abort', actions)
  }
}
