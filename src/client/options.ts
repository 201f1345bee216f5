/** The options of the client and its calls, and the types of items. @module */

import type { Item } from '../interface/models.js'

/** An access token (spec §5), or a function that gets one: called at first, and again when the token has expired. */
export type Token = string | (() => string | Promise<string>)

/** A function such as the platform's `fetch`. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

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
