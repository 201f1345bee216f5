/** The options of the client and its calls, and the types of items. @module */

import type { Item } from '../interface/models.js'

/** An access token (spec §5), or a function that returns one. */
export type Token = string | (() => string | Promise<string>)

/** A function with the signature of the platform's `fetch`. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** Converts items to JSON text and back. `JSON` and the module `lossless-json` both have these two functions. */
export interface JsonCodec {
  parse(text: string): unknown
  /** @returns `undefined` for a value that JSON cannot represent, such as a function. */
  stringify(value: unknown): string | undefined
}

export interface ItemStoreClientOptions {
  /** Base URL, which ends with `/api/v1`. In a browser, a URL relative to the page is allowed. */
  readonly baseUrl: string | URL
  /**
   * Access token. If this is a function, it is called before the first request, and again when its token has expired.
   */
  readonly token: Token
  /** Default: the platform's `fetch`. */
  readonly fetch?: Fetch | undefined
  /**
   * Timeout in milliseconds; 30,000 by default. The timeout limits each wait: for a token, for the beginning of a
   * response, for each further part of the response, and before a retry. Use `signal` to limit the whole call.
   */
  readonly timeout?: number | undefined
  /**
   * Maximum number of retries after a 503, a timeout or a failed connection; 3 by default. A change with `ifMatch` is
   * retried only if the failed attempt certainly had no effect.
   */
  readonly retries?: number | undefined
  /**
   * Converts items to and from JSON text. The default, `JSON`, changes `1.0` and numbers that exceed double precision.
   */
  readonly json?: JsonCodec | undefined
}

export interface CallOptions {
  /** Cancels the call. The call then fails with the signal's reason. */
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
   * Identifies a create, so that it is safe to repeat. Creates with the same key, data and token subject (`sub`) make
   * only one item. The key has 1 to 255 visible ASCII characters. Default: a new key for each call.
   */
  readonly idempotencyKey?: string | undefined
}

export interface MatchOptions extends CallOptions {
  /**
   * An entity tag, or an item that has one (see `tagOf`). If the stored item has another tag, it is not changed, and
   * the call fails with `PRECONDITION_FAILED`.
   */
  readonly ifMatch?: string | object | undefined
}

export interface ReplaceOptions extends WriteOptions, MatchOptions {}

export interface UpdateOptions extends CallOptions {
  /**
   * Whether `change` may be applied twice. If so, an update whose outcome is unknown is retried. By default, such an
   * update fails, for example with `CONNECTION_LOST`.
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
