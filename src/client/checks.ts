/** What is checked of a caller's values before anything is sent. @module */

import { wrong } from './item-store-error.js'
import type { ItemStoreClientOptions, ListOptions } from './options.js'
import { longestDelay } from './wait.js'

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
    timeout: Math.min(timeout, longestDelay), // also that of a retry
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
    // The same as a missing one.
  }
  if (!/^https?:\/\/[^/@]+\/[^?#]*$/.test(href)) {
    throw wrong('baseUrl is missing, or not like "http://localhost:8000/api/v1"')
  }
  return href.replace(/\/+$/, '')
}

/** @throws {TypeError} for an id that cannot be one segment of a path: no item has it. */
export function pathOf(id: string): string {
  // Without one, it would be the path of the list. `fetch` would resolve the dots as path segments, and a
  // lone surrogate cannot be encoded in UTF-8.
  if (!id || /^\.\.?$|\p{Surrogate}/u.test(id)) {
    throw wrong(`id is ${JSON.stringify(id)}; expected one path segment`)
  }
  return `/items/${encodeURIComponent(id)}`
}

/** The path of the list. @throws {TypeError} for a project that is not text. */
export function listPath({ projectId }: ListOptions = {}): string {
  if (projectId === undefined) return '/items'
  requireText(projectId)
  return `/items?project_id=${encodeURIComponent(projectId)}`
}

function requireText(projectId: unknown): void {
  if (typeof projectId !== 'string') throw wrong('project_id is not text')
}

/** A text that is one JSON value, so that it cannot add members to the request. @throws {SyntaxError} */
export function jsonText(text: string): string {
  JSON.parse(text)
  return text
}

/**
 * The text of an item request: what a create or replace sends.
 * @param data the JSON text of an object.
 * @param projectId if left out, that of the data, in which the service would drop it.
 * @throws {TypeError} for half a character, and for a project that is not text: `JSON` turns 1e400 into `null`.
 */
export function itemRequestText(data: string, projectId: unknown = projectIn(data)): string {
  // A lone surrogate cannot be encoded in UTF-8, and `fetch` would replace it.
  if (/\p{Surrogate}/u.test(data)) throw wrong('data has a lone surrogate; write it as \\uXXXX')
  if (projectId != null) requireText(projectId)
  const project = projectId == null ? '' : `,"project_id":${JSON.stringify(projectId)}`
  return `{"data":${data}${project}}`
}

/** The `project_id` in the JSON text of an item, however the name is escaped; `undefined` if there is none. */
export function projectIn(text: string): string | null | undefined {
  return /"project_id"|\\u00/.test(text) ? JSON.parse(text)?.project_id : undefined
}
