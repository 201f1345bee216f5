/** Checks the client's options, and sends requests with a token, and again where an error permits it. @module */

import { fetchText, longestTimer, wait } from './fetch-text.js'
import { hasCode, ItemStoreError, responseError, wrong } from './item-store-error.js'
import type { TextResponse } from './item-texts.js'
import type { CallOptions, ItemStoreClientOptions, Token } from './options.js'

/** The options with their defaults. @throws {TypeError} when one is missing or wrong. */
export function checkedOptions(options: ItemStoreClientOptions) {
  const { baseUrl, timeout = 30_000, retries = 3, json = JSON } = options
  // Looked up for each request: test libraries replace it.
  const { fetch = (url, init) => globalThis.fetch(url, init) } = options
  if (!(timeout > 0)) throw wrong(`timeout is ${timeout}; expected milliseconds above 0`)
  if (!(retries >= 0)) throw wrong(`retries is ${retries}; expected 0 or more`)
  if (typeof fetch !== 'function') throw wrong('fetch is not a function')
  if (!json?.parse || !json.stringify) throw wrong('json has no parse and stringify')
  return {
    baseUrl: normalized(baseUrl),
    fetch,
    timeout: Math.min(timeout, longestTimer), // also the longest delay before a retry
    retries,
    json,
  }
}

export type CheckedOptions = ReturnType<typeof checkedOptions>

/** The base URL without a slash at its end. Errors do not show it: they get logged, and it may have a password. */
function normalized(baseUrl: string | URL): string {
  const { location } = globalThis as { location?: { href: string } } // only pages have one
  let href = ''
  try {
    if (baseUrl) href = new URL(baseUrl, location?.href).href
  } catch {
    // Not a URL: reported below, like a missing one.
  }
  if (!/^https?:\/\/[^/@]+\/[^?#]*$/.test(href)) {
    throw wrong('baseUrl is missing, or not like "http://localhost:8000/api/v1"')
  }
  return href.replace(/\/+$/, '')
}

export interface ServiceRequest {
  /** GET by default. */
  readonly method?: 'HEAD' | 'POST' | 'PUT' | 'DELETE' | undefined
  /** Relative to the base URL; by default that of the list. */
  readonly path?: string | undefined
  /** JSON text. */
  readonly body?: string
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>> | undefined
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

export function createSender(options: CheckedOptions, token: Token): Send {
  const { baseUrl, fetch, timeout } = options
  const tokens = createTokenSource(token)

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
          const error = responseError(response.head, await response.text())
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

/** @throws {TypeError} when there is no token, or none that could be sent. */
function createTokenSource(token: Token | undefined) {
  const isFunction = typeof token === 'function'
  if (!isFunction) checked(token)
  const ask = async () => checked(isFunction ? await token() : token)
  let latest: Promise<string> | undefined
  return {
    /** The current token; concurrent calls share one request for it. */
    current() {
      latest ??= ask()
      return latest
    },
    /** The token is no longer valid. @returns whether there may be another one. */
    forget(used: Promise<string> | undefined) {
      if (latest === used) latest = undefined // otherwise another call has already asked again
      return isFunction
    },
  }
}

/** The errors do not show the token, because errors get logged. */
function checked(token: unknown): string {
  // RFC 6750 §2.1. A line break from the end of a file is the usual reason.
  if (typeof token === 'string' && /^[\w.~+/=-]+$/.test(token)) return token
  throw wrong(`token is ${token ? 'not a token: is there white space in it?' : 'missing'}`)
}

// In milliseconds. A service that restarts is back within the first two retries.
const firstBackoff = 200
const longestBackoff = 5_000

/**
 * How long to wait before the same request is sent again, in milliseconds; `undefined` for not at all.
 * @param isOnce whether the request must not take effect twice, so that it is sent again only if it certainly
 * has not.
 * @param retries how many retries there have been.
 */
export function retryDelay(
  error: unknown,
  isOnce: boolean,
  retries: number,
  limits: Pick<CheckedOptions, 'retries' | 'timeout'>,
): number | undefined {
  if (!(error instanceof ItemStoreError)) return undefined
  const { code, status = 503 } = error // it has none when there was no response
  if (isOnce ? !isUndone(error) : status !== 503 && code !== 'CONNECTION_LOST') return undefined
  const delay = backoff(error, retries)
  return retries < limits.retries && delay <= limits.timeout ? delay : undefined
}

/** A delay in milliseconds that gets longer, and not before the service's `Retry-After`. */
export function backoff({ retryAfter = 0 }: Partial<ItemStoreError>, retries: number): number {
  const delay = Math.min(longestBackoff, firstBackoff * 2 ** retries)
  // Half of it is random, so that clients that failed together do not come back together.
  return retryAfter * 1000 + (delay * (1 + Math.random())) / 2
}

/** Whether a request certainly has not taken effect (spec §7.3). */
function isUndone(error: unknown): boolean {
  return hasCode(error, 'NOT_CONNECTED') || hasCode(error, 'SERVICE_UNAVAILABLE')
}
