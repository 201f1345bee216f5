/** Sends requests with a token, and again where an error permits it. @module */

import { exchange, type Fetch, type Reply, textOf } from './exchange.js'
import { ItemStoreError, refusal } from './item-store-error.js'
import { isUncertain, retryDelay } from './retry.js'
import type { TokenSource } from './token-source.js'
import type { Waiting } from './waiting.js'

export interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Relative to the base URL. */
  readonly path: string
  /** JSON text. */
  readonly body?: string
  /** Sent without a token; `read` gets responses of any status. */
  readonly isHealthCheck?: boolean
}

/**
 * Sends a request until it succeeds or is not worth another attempt.
 * @param read makes the result of a response. If it fails, the request may be sent again.
 * @throws {ItemStoreError}
 */
export type Send = <R>(
  call: Call,
  waiting: Waiting,
  read: (reply: Reply) => R | Promise<R>,
) => Promise<R>

export interface SenderOptions {
  readonly baseUrl: string
  readonly tokens: TokenSource
  readonly fetch: Fetch | undefined
  /** Longest time before another attempt, in milliseconds. */
  readonly timeout: number
  /** Maximum number of further attempts. */
  readonly retries: number
}

export function createSender(options: SenderOptions): Send {
  const { baseUrl, tokens, timeout, retries } = options
  // Looked up at each request: test libraries put their own in its place.
  const fetch: Fetch = options.fetch ?? ((url, init) => globalThis.fetch(url, init))

  /** The token, which is asked for again by the next call unless this one gets it. */
  async function tokenFrom(source: Promise<string>, waiting: Waiting): Promise<string> {
    try {
      return await waiting.until(() => source)
    } catch (error) {
      tokens.forget(source)
      throw error
    }
  }

  return async function send({ method, path, body, isHealthCheck }, waiting, read) {
    let isRenewed = false
    let mayBeDone = false
    for (let attempt = 0; ; ) {
      waiting.signal.throwIfAborted() // before a token is asked for
      const source = isHealthCheck ? undefined : tokens.current()
      const headers: Record<string, string> = {}
      if (source) headers.authorization = `Bearer ${await tokenFrom(source, waiting)}`
      const init: RequestInit = { method, headers }
      if (body !== undefined) {
        headers['content-type'] = 'application/json'
        init.body = body
      }
      try {
        const reply = await exchange(fetch, baseUrl + path, init, waiting)
        if (!reply.response.ok && !isHealthCheck) {
          const error = refusal(reply.response, await textOf(reply))
          // The item that an earlier attempt may have deleted is not there any more.
          if (!(mayBeDone && method === 'DELETE' && isItemMissing(error))) throw error
        }
        return await read(reply)
      } catch (error) {
        if (source && !isRenewed && isExpired(error) && tokens.forget(source)) {
          isRenewed = true
          continue
        }
        const delay = retryDelay(error, method === 'POST', attempt)
        if (delay === undefined || attempt >= retries || delay > timeout) throw error
        mayBeDone ||= isUncertain(error)
        attempt += 1
        await waiting.pause(delay)
      }
    }
  }
}

/** Whether this is the 404 of an item, and not that of a wrong path or of something between. */
function isItemMissing({ status, code, sessionId }: ItemStoreError): boolean {
  return status === 404 && code === undefined && sessionId !== undefined
}

function isExpired(error: unknown): boolean {
  return error instanceof ItemStoreError && error.code === 'TOKEN_EXPIRED'
}
