/** Sends requests with a token, and retries where an error permits it. @module */

import type { AbortScope } from './abort-scope.js'
import { type Fetch, fetchText, type TextResponse, wholeText } from './fetch-text.js'
import { hasCode, type ItemStoreError, responseError } from './item-store-error.js'
import { isOutcomeUnknown, type RetryLimits, retryDelay } from './retry.js'
import type { TokenSource } from './token-source.js'

export interface ServiceRequest {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE'
  /** Relative to the base URL. */
  readonly path: string
  /** JSON text. */
  readonly body?: string
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>
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

export interface SenderOptions extends RetryLimits {
  readonly baseUrl: string
  readonly tokens: TokenSource
  readonly fetch: Fetch | undefined
}

export function createSender(options: SenderOptions): Send {
  const { baseUrl, tokens } = options
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

  return async function send(request, scope, read) {
    const { method, path, body, isHealthCheck } = request
    // Later errors would look like those of the network. `fetch` itself gets an object, which others may change.
    const given = Object.fromEntries(new Headers(request.headers))
    // Sent again, a create without a key makes another item, and a condition is not met if the first was done.
    const isOnce = method === 'POST' ? !given['idempotency-key'] : !!given['if-match']
    let isTokenRenewed = false
    let mayBeDone = false
    for (let retry = 0; ; ) {
      scope.signal.throwIfAborted() // before a token is asked for
      const source = isHealthCheck ? undefined : tokens.current()
      const headers = { ...given }
      if (source) headers.authorization = `Bearer ${await tokenFrom(source, scope)}`
      const init: RequestInit = { method, headers }
      if (body !== undefined) {
        headers['content-type'] = 'application/json'
        init.body = body
      }
      try {
        const response = await fetchText(fetch, baseUrl + path, init, scope)
        const { ok, status } = response.head
        if (!ok && status !== 304 && !isHealthCheck) {
          const error = responseError(response.head, await wholeText(response))
          // An earlier attempt may have deleted the item that is missing now.
          if (!(mayBeDone && method === 'DELETE' && isItemMissing(error))) throw error
        }
        return await read(response)
      } catch (error) {
        if (source && !isTokenRenewed && hasCode(error, 'TOKEN_EXPIRED') && tokens.forget(source)) {
          isTokenRenewed = true
          continue
        }
        const delay = retryDelay(error, isOnce, retry, options)
        if (delay === undefined) throw error
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
