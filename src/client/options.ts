/** The options of the client and its calls, and the types of items. @module */

import type { Item } from '../interface/models.js'

/** An access token (spec §5), or a function that returns one. */
export type Token = string | (() => string | Promise<string>)

/** A function with the signature of the platform's `fetch`. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** Converts items to JSON text and back. `JSON` and the module `lossless-json` have these functions. */
export interface JsonCodec {
  parse(text: string): unknown
  /** @returns `undefined` for a value that JSON does not have, such as a function. */
  stringify(value: unknown): string | undefined
}

export interface ItemStoreClientOptions {
  /** Base URL, which ends with `/api/v1`. In a browser it may be relative to the page. */
  readonly baseUrl: string | URL
  /** Access token. A function is called before the first request, and again when its token has expired. */
  readonly token: Token
  /** Default: the platform's `fetch`. */
  readonly fetch?: Fetch | undefined
  /**
   * Longest wait for the beginning of a response, for each further part of it, for a token, and before a retry, in
   * milliseconds; 30,000 by default. It applies to each attempt; use `signal` to limit the whole call.
   */
  readonly timeout?: number | undefined
  /**
   * Maximum number of retries after a 503, a timeout or a failed connection; 3 by default. A change with `ifMatch` is
   * retried only if it has certainly not taken effect.
   */
  readonly retries?: number | undefined
  /** Converts items to and from JSON text. The default, `JSON`, changes `1.0`, and numbers beyond double precision. */
  readonly json?: JsonCodec | undefined
}

export interface CallOptions {
  /** Cancels the call, which then fails with the signal's reason. */
  readonly signal?: AbortSignal | undefined
}

export interface ListOptions extends CallOptions {
  /** Limits the list to the items of this project. Default: all items. */
  readonly projectId?: string | undefined
}

export interface WriteOptions extends CallOptions {
  /** The item's `project_id`, at least one character. Default: the `project_id` in the data, or null. */
  readonly projectId?: string | null | undefined
}

export interface CreateOptions extends WriteOptions {
  /**
   * Identifies a create, so that it is safe to repeat. All creates with the same key, data and token subject (`sub`)
   * make one item. The key has 1 to 255 visible ASCII characters. Default: a new key for each call.
   */
  readonly idempotencyKey?: string | undefined
}

export interface MatchOptions extends CallOptions {
  /**
   * An entity tag, or an item that has a tag (`tagOf`). If the tag of the stored item differs, the item is not changed,
   * and the call fails with `PRECONDITION_FAILED`.
   */
  readonly ifMatch?: string | object | undefined
}

export interface ReplaceOptions extends WriteOptions, MatchOptions {}

export interface UpdateOptions extends CallOptions {
  /**
   * Whether `change` may be applied twice. If so, the call is retried when its outcome is unknown. By default, the call
   * then fails, for example with `CONNECTION_LOST`.
   */
  readonly isRepeatable?: boolean | undefined
}

/** An item of the type `T` as the service returns it (spec §2.1). */
export type StoredItem<T extends object = Item> = T & Pick<Item, 'id' | 'project_id'>

export type MaybePromise<R> = R | Promise<R>

/** Data from which an item of the type `T` is created: its members without `id`. `project_id` is optional. */
export type NewItem<T extends object = Item> = string extends keyof T
  ? object
  : T extends unknown // applies the type to each member of a union
    ? Omit<T, 'id' | 'project_id'> & Partial<Pick<Item, 'project_id'>>
    : never
