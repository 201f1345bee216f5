/** Sends requests with a token, and retries where an error permits it. @module */

import type { AbortScope } from './abort-scope.js'
import { type Fetch, fetchText, type TextResponse, wholeText } from './fetch-text.js'
import { ItemStoreError, responseError } from './item-store-error.js'
import { isOutcomeUnknown, retryDelay } from './retry.js'
import type { TokenSource } from './token-source.js'

export interface ServiceRequest {
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
 * @param read makes the result from a response. If it fails, the request may be sent again.
 * @throws {ItemStoreError}
 */
export type Send = <R>(
  request: ServiceRequest,
  scope: AbortScope,
  read: (response: TextResponse) => R | Promise<R>,
) => Promise<R>

export interface SenderOptions {
  readonly baseUrl: string
  readonly tokens: TokenSource
  readonly fetch: Fetch | undefined
  /** Longest delay before a retry, in milliseconds. */
  readonly timeout: number
  /** Maximum number of retries. */
  readonly retries: number
}

export function createSender(options: SenderOptions): Send {
  const { baseUrl, tokens, timeout, retries } = options
  // Looked up for each request: test libraries replace it.
  const fetch: Fetch = options.fetch ?? ((url, init) => globalThis.fetch(url, init))

  /** The token; if this call does not get it, the next one asks for it again. */
  async function tokenFrom(source: Promise<string>, scope: AbortScope): Promise<string> {
    try {
      return await scope.withTimeout(() => source)
    } catch (error) {
      tokens.forget(source)
      throw error
    }
  }

  return async function send({ method, path, body, isHealthCheck }, scope, read) {
    let isTokenRenewed = false
    let mayBeDone = false
    for (let retry = 0; ; ) {
      scope.signal.throwIfAborted() // before a token is asked for
      const source = isHealthCheck ? undefined : tokens.current()
      const headers: Record<string, string> = {}
      if (source) headers.authorization = `Bearer ${await tokenFrom(source, scope)}`
      const init: RequestInit = { method, headers }
      if (body !== undefined) {
        headers['content-type'] = 'application/json'
        init.body = body
      }
      try {
        const response = await fetchText(fetch, baseUrl + path, init, scope)
        if (!response.head.ok && !isHealthCheck) {
          const error = responseError(response.head, await wholeText(response))
          // An earlier attempt may have deleted the item that is missing now.
          if (!(mayBeDone && method === 'DELETE' && isItemMissing(error))) throw error
        }
        return await read(response)
      } catch (error) {
        if (source && !isTokenRenewed && isExpired(error) && tokens.forget(source)) {
          isTokenRenewed = true
          continue
        }
        const delay = retryDelay(error, method === 'POST', retry)
        if (delay === undefined || retry >= retries || delay > timeout) throw error
        mayBeDone ||= isOutcomeUnknown(error)
        retry += 1
        await scope.sleep(delay)
      }
    }
  }
}

/** Whether this is the 404 of an item, and not that of a wrong path or of something in between. */
export function isItemMissing({ status, code, sessionId }: ItemStoreError): boolean {
  return status === 404 && code === undefined && sessionId !== undefined
}

function isExpired(error: unknown): boolean {
  return error instanceof ItemStoreError && error.code === 'TOKEN_EXPIRED'
}
