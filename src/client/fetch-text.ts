/** Fetches responses as text, in parts. A timeout and an `AbortSignal` limit each wait. @module */

import { ItemStoreError, invalidResponse, membersOf } from './item-store-error.js'
import { TextResponse } from './item-texts.js'
import type { Fetch } from './options.js'

const shortParts = /.{1,65536}/gs // more at once would block a page

// Matches the code, system call and message of errors that happen before anything is sent. Failures of an open
// connection, such as `read EHOSTUNREACH` or a damaged TLS record, don't match. Nor do errors in browsers, because
// they have no details.
const notConnected = new RegExp(
  [
    '^E(CONNREF|ADDRNOT|NOTF|AI_|(HOST|NET)(UN|DO))(?!.* (read|write)\\b)',
    '^UND_ERR_CONNECT_T|^\\S+ (bind|connect|getaddr|query)|before secure TLS|bad port$',
    '^\\S*(CERT|CRL_|UNABLE_TO|_CA\\b|_PURPOSE|PATH_L|ERR_TLS)', // OpenSSL's codes for certificates
    '^(ERR_SSL|EPROTO).*(version|protocol|handshake)',
  ].join('|'),
  'i',
)

/**
 * Sends a request, and resolves when the response headers arrive.
 * @param timeout in ms, for the headers and for each part of the body. @throws {ItemStoreError}
 */
export async function fetchText(
  fetch: Fetch,
  url: string,
  init: Pick<Parameters<Fetch>[1], 'method' | 'headers' | 'body'>,
  timeout: number,
  signal: Signal,
): Promise<TextResponse> {
  const own = new AbortController()

  const outcomeOf = <T>(operation: () => Promise<T>, response?: Response): Promise<T> =>
    wait(timeout, signal, async () => {
      try {
        return await operation()
      } catch (cause) {
        const isUnsent = !response && isConnectError(cause)
        throw new ItemStoreError(
          `${isUnsent ? 'Cannot connect to' : 'No complete response from'} ${url}`,
          { code: isUnsent ? 'NOT_CONNECTED' : 'CONNECTION_LOST', cause, response },
        )
      }
    })

  async function* partsOf(response: Response): AsyncGenerator<string, void, void> {
    const body = response.body as Body // depends on the package that `fetch` comes from
    const source = body?.getReader?.() ?? body?.[Symbol.asyncIterator]?.()
    try {
      if (!source) {
        const text = await outcomeOf(() => response.text(), response)
        return yield* text.match(shortParts) ?? []
      }
      const decoder = new TextDecoder('utf-8', { fatal: true })
      const next = () => ('read' in source ? source.read() : source.next())
      for (;;) {
        const { done, value } = await outcomeOf(next, response)
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
      own.abort() // closes the connection, unless the response is complete
    }
  }

  // A redirect could turn a create into a GET, and take the token to another host.
  const options = { ...init, redirect: 'manual', signal: own.signal } as const
  try {
    const head = (await outcomeOf(() => fetch(url, options))) as Response // has the members used here
    return new TextResponse(head, partsOf(head))
  } catch (error) {
    own.abort()
    throw error
  }
}

/** Body of a response. In node-fetch, it's a Node.js stream. React Native has none, only `text()`. */
type Body = (AsyncIterable<Uint8Array> & Partial<ReadableStream<Uint8Array>>) | null | undefined

function isConnectError(error: unknown): boolean {
  const { cause = error } = membersOf(error) // the global `fetch` of Node.js wraps the error
  const { errors } = membersOf(cause) // one for each address of the host
  const texts = [errors ?? cause].flat().map((each) => {
    const { code, syscall, message } = membersOf(each)
    return `${code} ${syscall} ${message}`
  })
  return texts.length > 0 && texts.every((text) => notConnected.test(text))
}

/** Longest delay for `setTimeout`, in ms. From 2 ** 31 on, a timer fires at once. */
export const longestTimer = 2e9

type Signal = AbortSignal | undefined

/** Waits for `time` ms. If there's an `operation`, returns its result, or throws `TIMEOUT` if it takes longer. */
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

/** Calls `action` on an abort. There's only one listener per signal, because Node.js warns about more than ten. */
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
