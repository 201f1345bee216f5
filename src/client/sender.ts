/** Sends requests with a token, and retries where an error permits it. @module */

import type { CheckedOptions } from './checks.js'
import { fetchText, type TextResponse, wholeText } from './fetch-text.js'
import { hasCode, type ItemStoreError, responseError } from './item-store-error.js'
import type { CallOptions } from './options.js'
import { isUndone, retryDelay } from './retry.js'
import type { TokenSource } from './token-source.js'
import { wait } from './wait.js'

export interface ServiceRequest {
  /** GET by default. */
  readonly method?: 'HEAD' | 'POST' | 'PUT' | 'DELETE' | undefined
  /** Relative to the base URL; by default that of the list. */
  readonly path?: string | undefined
  /** JSON text. */
  readonly body?: string
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * Sends a request until it succeeds or is not worth another attempt.
 * @param read makes the result from a response. If it fails, the request may be sent again.
 * @throws {ItemStoreError}
 */
export type Send = <R>(
  request: ServiceRequest,
  options: CallOptions | undefined,
  read: (response: TextResponse) => R | Promise<R>,
) => Promise<R>

export function createSender(options: Omit<CheckedOptions, 'json'>, tokens: TokenSource): Send {
  const { baseUrl, fetch, timeout } = options

  return async function send(request, { signal } = {}, read) {
    const { method = 'GET', path = '/items', body = null } = request
    // Sent without a token; `read` gets its responses of any status.
    const isHealthCheck = path === '/health'
    // Later errors would look like those of the network. `fetch` itself gets an object, which others may change.
    const given = Object.fromEntries(new Headers(request.headers))
    if (body) given['content-type'] = 'application/json'
    let isTokenRenewed = false
    let mayBeDone = false
    for (let retry = 0; ; ) {
      const headers = { ...given }
      let source: Promise<string> | undefined
      if (!isHealthCheck) {
        try {
          const token = await wait(timeout, signal, () => {
            source = tokens.current()
            return source
          })
          headers.authorization = `Bearer ${token}`
        } catch (error) {
          tokens.forget(source) // the next call asks for it again
          throw error
        }
      }
      try {
        const init = { method, headers, body }
        const response = await fetchText(fetch, baseUrl + path, init, timeout, signal)
        const { ok, status } = response.head
        if (!ok && status !== 304 && !isHealthCheck) {
          const error = responseError(response.head, await wholeText(response))
          // An earlier attempt may have deleted the item that is missing now.
          if (!(mayBeDone && method === 'DELETE' && isItemMissing(error))) throw error
        }
        return await read(response)
      } catch (error) {
        if (!isTokenRenewed && hasCode(error, 'TOKEN_EXPIRED') && tokens.forget(source)) {
          isTokenRenewed = true
          continue
        }
        // A create has a key. A change with a condition would meet another item once it has been made.
        const delay = retryDelay(error, !!given['if-match'], retry, options)
        if (delay === undefined) throw error
        mayBeDone ||= !isUndone(error)
        retry += 1
        await wait(delay, signal)
      }
    }
  }
}

/** Whether this is the 404 of an item, and not that of a wrong path or of something in between. */
export function isItemMissing({ status, code, sessionId }: ItemStoreError): boolean {
  return status === 404 && !code && !!sessionId
}
