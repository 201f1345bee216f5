/** Checks the client's options, and sends requests with a token, retrying after failures. @module */

import { fetchText, longestTimer, wait } from './fetch-text.js'
import {
  hasCode,
  ItemStoreError,
  isOutcomeUnknown,
  responseError,
  wrong,
} from './item-store-error.js'
import type { TextResponse } from './item-texts.js'
import type { CallOptions, ItemStoreClientOptions, Token } from './options.js'

export function checkedOptions(options: ItemStoreClientOptions) {
  const { baseUrl, timeout = 30_000, retries = 3, json = JSON } = options
  // Looks up the global `fetch` for each request, because test libraries replace it.
  const { fetch = (url, init) => globalThis.fetch(url, init) } = options
  if (!(timeout > 0)) throw wrong(`timeout is ${timeout}; expected milliseconds above 0`)
  if (!(retries >= 0)) throw wrong(`retries is ${retries}; expected 0 or more`)
  if (typeof fetch !== 'function') throw wrong('fetch is not a function')
  if (!json?.parse || !json.stringify) throw wrong('json has no parse and stringify')
  return {
    baseUrl: normalized(baseUrl),
    fetch,
    timeout: Math.min(timeout, longestTimer), // the timeout also limits the delay before a retry
    retries,
    json,
  }
}

export type CheckedOptions = ReturnType<typeof checkedOptions>

/** Checks the base URL, and removes trailing slashes. Errors omit the URL, because it may contain a password. */
function normalized(baseUrl: string | URL): string {
  const { location } = globalThis as { location?: { href: string } } // only in browsers
  let href = ''
  try {
    if (baseUrl) href = new URL(baseUrl, location?.href).href
  } catch {
    // An invalid URL fails below, like a missing one.
  }
  if (!/^https?:\/\/[^/@]+\/[^?#]*$/.test(href)) {
    throw wrong('baseUrl is missing, or not like "http://localhost:8000/api/v1"')
  }
  while (href.endsWith('/')) href = href.slice(0, -1)
  return href
}

export interface ServiceRequest {
  readonly method?: 'HEAD' | 'POST' | 'PUT' | 'DELETE' | undefined
  readonly path?: string | undefined
  readonly body?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
}

export interface SendOptions extends CallOptions {
  /** Retries so far, counted for all requests of a call together: the option `retries` limits the sum. */
  readonly used?: { retries: number } | undefined
}

/** Sends a request, and retries it, even if only `read` fails. @throws {ItemStoreError} */
export type Send = <R>(
  request: ServiceRequest,
  options: SendOptions | undefined,
  read: (response: TextResponse) => R | Promise<R>,
) => Promise<R>

export function createSender(options: CheckedOptions, token: Token): Send {
  const { baseUrl, fetch, timeout } = options
  const tokens = createTokenSource(token)

  return async function send(request, { signal, used = { retries: 0 } } = {}, read) {
    const { method = 'GET', path = '/items', body = null } = request
    // A health check needs no token, and accepts any status.
    const isHealthCheck = path === '/health'
    // `Headers` throws if a header is invalid. The error of `fetch` would look like a network failure.
    const given = Object.fromEntries(new Headers(request.headers))
    if (body) given['content-type'] = 'application/json'
    let isTokenRenewed = false
    let mayBeDone = false
    for (;;) {
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
          tokens.forget(source)
          throw error
        }
      }
      try {
        const init = { method, headers, body }
        const response = await fetchText(fetch, baseUrl + path, init, timeout, signal)
        const { ok, status } = response.head
        if (!ok && status !== 304 && !isHealthCheck) {
          const error = responseError(response.head, await response.text())
          // A repeated delete that gets a 404 succeeds: an earlier attempt may have deleted the item.
          if (!(mayBeDone && method === 'DELETE' && isItemMissing(error))) throw error
        }
        return await read(response)
      } catch (error) {
        if (!isTokenRenewed && hasCode(error, 'TOKEN_EXPIRED') && tokens.forget(source)) {
          isTokenRenewed = true
          continue
        }
        // With `If-Match`, retries only if nothing has changed: a retry could conflict with its own first attempt.
        const delay = retryDelay(error, !!given['if-match'], used.retries, options)
        if (delay === undefined) throw error
        mayBeDone ||= isOutcomeUnknown(error)
        used.retries += 1
        await wait(delay, signal)
      }
    }
  }
}

/** True for the 404 of a missing item, the only one without a code. */
export function isItemMissing({ status, code, sessionId }: ItemStoreError): boolean {
  return status === 404 && !code && !!sessionId
}

function createTokenSource(token: Token | undefined) {
  const isFunction = typeof token === 'function'
  if (!isFunction) checked(token)
  const ask = async () => checked(isFunction ? await token() : token)
  let latest: Promise<string> | undefined
  return {
    current() {
      latest ??= ask()
      return latest
    },
    /** Discards an invalid token. Returns whether a new one can be requested. */
    forget(used: Promise<string> | undefined) {
      if (latest === used) latest = undefined // otherwise another call has already requested a new one
      return isFunction
    },
  }
}

/** True if a token's characters are all valid (RFC 6750 §2.1). A line break, as at the end of many files, is not. */
export function isToken(text: string): boolean {
  return /^[\w.~+/=-]+$/.test(text)
}

/** Checks a token's syntax. Errors omit it, because they're often logged. */
function checked(token: unknown): string {
  if (typeof token === 'string' && isToken(token)) return token
  throw wrong(`token is ${token ? 'not a token: is there white space in it?' : 'missing'}`)
}

const firstBackoff = 200 // in ms; a restarted service is usually back within two retries
const longestBackoff = 5_000

/** Returns the delay before a retry, in ms. With `isOnce`, a request that may have taken effect is not retried. */
export function retryDelay(
  error: unknown,
  isOnce: boolean,
  retries: number,
  limits: Pick<CheckedOptions, 'retries' | 'timeout'>,
): number | undefined {
  if (!(error instanceof ItemStoreError)) return undefined
  const { code, status = 503 } = error // an error without a response has no status
  if (status !== 503 && code !== 'CONNECTION_LOST') return undefined
  if (isOnce && isOutcomeUnknown(error)) return undefined
  const delay = backoff(error, retries)
  return retries < limits.retries && delay <= limits.timeout ? delay : undefined
}

/** Returns a delay in ms: `Retry-After`, plus a random time that grows with each retry. */
export function backoff({ retryAfter = 0 }: Partial<ItemStoreError>, retries: number): number {
  const delay = Math.min(longestBackoff, firstBackoff * 2 ** retries)
  // Half of the delay is random, so that clients that failed together don't retry together.
  return retryAfter * 1000 + (delay * (1 + Math.random())) / 2
}
