/** The options of the client and its calls, and the checks of what callers give before anything is sent. @module */

import type { Item } from '../interface/models.js'
import { type Fetch, longestTimer } from './fetch-text.js'
import { wrong } from './item-store-error.js'

/** An access token (spec §5), or a function that gets one: called at first, and again when the token has expired. */
export type Token = string | (() => string | Promise<string>)

/** Turns an item into JSON text and back. `JSON` is one, and so is the module `lossless-json`. */
export interface JsonCodec {
  parse(text: string): unknown
  /** @returns `undefined` for what is not JSON. */
  stringify(value: unknown): string | undefined
}

export interface ItemStoreClientOptions {
  /** Ends with `/api/v1`. In a browser it may be relative to the page. */
  readonly baseUrl: string | URL
  /** A function is called at the first request, and once more when the token has expired. */
  readonly token: Token
  /** The platform's `fetch` by default. */
  readonly fetch?: Fetch | undefined
  /**
   * Longest wait in milliseconds, 30,000 by default: for the response to begin, for each further part of
   * it, for a token, and before a retry. It is that of one attempt; `signal` can limit the whole call.
   */
  readonly timeout?: number | undefined
  /**
   * How often to retry a request after a 503, after a timeout, or when the connection failed; 3 by default. A
   * change with `ifMatch` is retried only if it certainly has not taken effect.
   */
  readonly retries?: number | undefined
  /** Parses and writes items. The default, `JSON`, changes `1.0` and numbers beyond double precision. */
  readonly json?: JsonCodec | undefined
}

export interface CallOptions {
  /** Ends the call, which then fails with the reason of the signal. */
  readonly signal?: AbortSignal | undefined
}

export interface ListOptions extends CallOptions {
  /** Only the items of this project; by default all items. */
  readonly projectId?: string | undefined
}

export interface WriteOptions extends CallOptions {
  /** The item's `project_id`: at least one character; by default that of the data, or null. */
  readonly projectId?: string | null | undefined
}

export interface CreateOptions extends WriteOptions {
  /**
   * Creates with the same key and data make one item, whoever of the same `sub` sends them and however often:
   * 1 to 255 visible ASCII characters. By default, each call gets a new key.
   */
  readonly idempotencyKey?: string | undefined
}

export interface MatchOptions extends CallOptions {
  /**
   * A tag, or an item that has one (`tagOf`). If the stored item has another tag, it stays as it is, and the call
   * fails with `PRECONDITION_FAILED`.
   */
  readonly ifMatch?: string | object | undefined
}

export interface ReplaceOptions extends WriteOptions, MatchOptions {}

export interface UpdateOptions extends CallOptions {
  /**
   * Whether the change may be made twice. If so, it is made again when its outcome is unknown. By default, the call
   * fails then, with `CONNECTION_LOST` for example.
   */
  readonly isRepeatable?: boolean | undefined
}

/** An item of the type `T` as the service returns it (spec §2.1). */
export type StoredItem<T extends object = Item> = T & Pick<Item, 'id' | 'project_id'>

export type MaybePromise<R> = R | Promise<R>

/** What an item of the type `T` is created from: its members but `id`, and `project_id` only if it has one. */
export type NewItem<T extends object = Item> = string extends keyof T
  ? object
  : T extends unknown // for each type of a union
    ? Omit<T, 'id' | 'project_id'> & Partial<Pick<Item, 'project_id'>>
    : never

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

/** @throws {TypeError} for an id that cannot be one segment of a path: no item has it. */
export function pathOf(id: string): string {
  // An empty id would make the path of the list. `fetch` would resolve the dots as path segments, and a
  // lone surrogate cannot be encoded in UTF-8.
  if (!id || /^\.\.?$|\p{Surrogate}/u.test(id)) {
    throw wrong(`id is ${JSON.stringify(id)}; expected one path segment`)
  }
  return `/items/${encodeURIComponent(id)}`
}

/** The path of the list. @throws {TypeError} for a project that is not text, or has a lone surrogate. */
export function listPath({ projectId }: ListOptions = {}): string {
  if (projectId === undefined) return '/items'
  requireText('project_id', projectId)
  requirePairs(projectId)
  return `/items?project_id=${encodeURIComponent(projectId)}`
}

/** @throws {TypeError} */
export function requireText(name: string, value: unknown): void {
  if (typeof value !== 'string') throw wrong(`${name} is not text`)
}

/** @throws {TypeError} for a lone surrogate. It cannot be encoded in UTF-8, and `fetch` would replace it. */
function requirePairs(text: string): void {
  if (/\p{Surrogate}/u.test(text)) throw wrong('lone surrogate; JSON can escape it')
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
  requirePairs(data)
  if (projectId == null) return `{"data":${data}}`
  requireText('project_id', projectId)
  return `{"data":${data},"project_id":${JSON.stringify(projectId)}}`
}

/** The `project_id` in the JSON text of an item, however the name is escaped; `undefined` if there is none. */
export function projectIn(text: string): string | null | undefined {
  return /"project_id"|\\u00/.test(text) ? JSON.parse(text)?.project_id : undefined
}
