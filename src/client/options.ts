/** Options of the client and its methods, and types of items. @module */

import type { Item } from '../interface/models.js'

/** Access token (spec §5), or a function that returns one. */
export type Token = string | (() => string | Promise<string>)

/** The part of `fetch` that the client uses, so that the types of `node-fetch` fit too. */
export type Fetch = (url: string, init: FetchInit) => Promise<FetchResponse>

interface FetchInit {
  readonly method: string
  readonly headers: Record<string, string>
  readonly body: string | null
  readonly redirect: 'manual'
  readonly signal: AbortSignal
}

type FetchResponse = Pick<Response, 'ok' | 'status' | 'url' | 'text'> & {
  readonly headers: Pick<Headers, 'get' | 'has'>
}

/** Converts items to JSON text and back, as `JSON` and the package `lossless-json` do. */
export interface JsonCodec {
  parse(text: string): unknown
  /** @returns `undefined` for a value that JSON cannot represent, such as a function. */
  stringify(value: unknown): string | undefined
}

export interface ItemStoreClientOptions {
  /** Base URL of the service, which ends with `/api/v1`. In a browser, it can be relative to the page. */
  readonly baseUrl: string | URL
  /** Access token (spec §5), or a function that returns one. It's called again when the token has expired. */
  readonly token: Token
  /** Sends the requests. Default: the global `fetch`. */
  readonly fetch?: Fetch | undefined
  /** Timeout of each wait for a token or data, in milliseconds; 30,000 by default. `signal` limits the whole call. */
  readonly timeout?: number | undefined
  /** Maximum number of retries per call after a 503, a timeout or a failed connection. Default: 3. */
  readonly retries?: number | undefined
  /** Converts items to and from JSON. Default: `JSON`, which changes `1.0` and numbers that exceed double precision. */
  readonly json?: JsonCodec | undefined
}

export interface CallOptions {
  /** Cancels the call, which then fails with the signal's reason. */
  readonly signal?: AbortSignal | undefined
}

export interface ListOptions extends CallOptions {
  /** Lists only this project's items. Default: those of all projects. */
  readonly projectId?: string | undefined
}

export interface WriteOptions extends CallOptions {
  /** The item's `project_id`, which must not be empty. Default: the `project_id` in the data, or null. */
  readonly projectId?: string | null | undefined
}

export interface CreateOptions extends WriteOptions {
  /** `Idempotency-Key`: 1 to 255 visible ASCII characters. Calls with the same key create one item. Default: random. */
  readonly idempotencyKey?: string | undefined
}

export interface MatchOptions extends CallOptions {
  /** Entity tag, or an item with a tag. The call fails if the stored item has a different tag. */
  readonly ifMatch?: string | Tagged | undefined
}

export interface ReplaceOptions extends WriteOptions, MatchOptions {}

export interface UpdateOptions extends CallOptions {
  /** Whether `change` may be applied twice. If so, an update with an unknown outcome is retried. */
  readonly isRepeatable?: boolean | undefined
}

export type StoredItem<T extends object = Item> = T & Pick<Item, 'id' | 'project_id'>

declare const tag: unique symbol

/** Marks an item that has an entity tag. Copies lose the mark, because a spread omits protected members. */
export declare abstract class Tagged {
  protected readonly [tag]: true
}

/** An item with its entity tag, for `ifMatch` and `tagOf`. Items from a list have no tags. */
export type TaggedItem<T extends object = Item> = StoredItem<T> & Tagged

export type MaybePromise<R> = R | Promise<R>

/** Data of a new item: the members of `T` without `id`. `project_id` is optional. */
export type NewItem<T extends object = Item> = string extends keyof T
  ? object
  : T extends unknown // applies the type to each member of a union
    ? Omit<T, 'id' | 'project_id'> & Partial<Pick<Item, 'project_id'>>
    : never
