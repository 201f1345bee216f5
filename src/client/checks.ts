/** What is checked of a caller's values before anything is sent. @module */

import { longestDelay } from './abort-scope.js'
import { wrong } from './item-store-error.js'
import type { ItemStoreClientOptions } from './options.js'

/** The options with their defaults. @throws {TypeError} when one is missing or wrong. */
export function checkedOptions(options: ItemStoreClientOptions) {
  const { baseUrl, fetch, retries = 3, json = JSON } = options
  const timeout = Math.min(options.timeout ?? 30_000, longestDelay)
  if (!(timeout > 0)) throw wrong(`timeout is ${timeout}; expected milliseconds above 0`)
  if (!(retries >= 0)) throw wrong(`retries is ${retries}; expected a number from 0`)
  if (fetch !== undefined && typeof fetch !== 'function') throw wrong('fetch is not a function')
  if (typeof json?.parse !== 'function' || typeof json.stringify !== 'function') {
    throw wrong('json has no parse and stringify')
  }
  return { baseUrl: normalized(baseUrl), fetch, timeout, retries, json }
}

export type CheckedOptions = ReturnType<typeof checkedOptions>

/** The base URL without a slash at its end. */
function normalized(baseUrl: string | URL): string {
  const { location } = globalThis as { location?: { href: string } } // only pages have one
  let url: URL | undefined
  try {
    if (baseUrl) url = new URL(baseUrl, location?.href)
  } catch {
    // The same as a missing one.
  }
  const address = url && url.origin + url.pathname
  if (address === undefined || address !== url?.href || !address.startsWith('http')) {
    // Errors get logged, so what may be a password or another secret is masked.
    const shown = `"${baseUrl}"`
      .replace(/^("(?:\w+:\/\/)?).*@/s, '$1***@')
      .replace(/\?.+(?=")/s, '?***')
    throw wrong(
      `baseUrl is ${baseUrl ? shown : 'missing'}; expected for example "http://localhost:8000/api/v1"`,
    )
  }
  return address.replace(/\/+$/, '')
}

/** @throws {TypeError} for an id that cannot be one segment of a path: no item has it. */
export function pathOf(id: string): string {
  if (!id) throw wrong('id is missing') // it would be the path of the list
  // `fetch` would resolve the dots as path segments, and a lone surrogate cannot be encoded in UTF-8.
  if (/^\.\.?$|\p{Surrogate}/u.test(id)) {
    throw wrong(`id is ${JSON.stringify(id)}; expected one segment of a path`)
  }
  return `/items/${encodeURIComponent(id)}`
}

/** A text that is one JSON value, so that it cannot add members to the request. @throws {SyntaxError} */
export function jsonText(text: string): string {
  JSON.parse(text)
  return text
}
