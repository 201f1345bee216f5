/**
 * The interface that every store of items implements, in process memory or on a Redis server.
 *
 * A store knows nothing of HTTP. It keeps the bytes of each item and returns the same bytes.
 * An operation may return a promise, as access over a network requires, or a plain value, which is faster.
 *
 * @module
 */

import type { ItemId } from '../item/id.js'
import type { EncodedItem } from '../item/item.js'

export type Awaitable<T> = T | Promise<T>

/** The guarantees that a store gives for its lists. */
export interface ListGuarantees {
  /**
   * Whether a list is a snapshot of the items at the time when `list` resolved. Every list, snapshot or not, contains
   * an item exactly once if the item exists during the whole read.
   */
  readonly isSnapshot: boolean
  /** Whether items are listed in the order in which they were created. */
  readonly isInOrder: boolean
}

/** The outcome of a replace or delete. */
export type ChangeOutcome =
  | 'done'
  /** No item has this id; nothing has changed. */
  | 'absent'
  /** The stored item differs from the expected item; nothing has changed. */
  | 'unexpected'

/** The items that a watcher watches: one item, the items of a project, or all items. */
export type Watched =
  | { readonly id: ItemId }
  /** Name of a project, or `undefined` for all items. */
  | { readonly project: string | undefined }

/** A list of all items, or of the items of one project. */
export interface ItemList {
  /** The version of the listed items (see `ItemStore.version`), determined before the first item was read. */
  readonly version: string
  /**
   * Total length of the chunks in bytes, if all chunks are in memory and can be read any number of times.
   * Otherwise `undefined`, and the chunks can be read only once.
   */
  readonly byteLength: number | undefined
  /**
   * The items as JSON texts separated by commas. A chunk may end inside an item, and may be empty if a filter finds
   * no items. Reading the chunks may throw a `StoreError`.
   */
  readonly chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>
  /**
   * Frees the memory of the list, whether or not the list was read to its end. Call this method once no chunk is in use
   * any more. Further calls do nothing.
   */
  release(): void
}

export interface StoreSize {
  readonly items: number
  /** Total length of the JSON texts of all items, in bytes. */
  readonly itemBytes: number
  /** Memory that holds the items, in bytes. For a Redis server, all memory that the server uses. */
  readonly memoryBytes: number
  /** Bytes that count against `maxBytes`. */
  readonly usedBytes: number
  /** Limit in bytes beyond which the store accepts no more items; `undefined` if there is no limit. */
  readonly maxBytes: number | undefined
}

/** Statistics about the network traffic between this process and the servers of a store. */
export interface StoreTraffic {
  /** Number of commands that were sent and have no reply yet. */
  readonly inFlight: number
  /** Number of commands that wait to be sent, because the in-flight limit is reached. */
  readonly waiting: number
  /** Number of times that a lost connection was re-established. */
  readonly reconnections: number
  /** Number of commands that a server of a cluster redirected to another server. */
  readonly redirections: number
  /** Number of changes that may or may not have taken effect. */
  readonly unknownOutcomes: number
  /** Called after each reply with the time since its command was sent, in seconds. */
  onRoundTrip: ((seconds: number) => void) | undefined
}

/**
 * A collection of items.
 *
 * Every operation may throw a `StoreError`. After `STORE_FULL`, nothing has changed. After `STORE_UNAVAILABLE`, the
 * outcome of a create, replace or delete is unknown. The change may have taken effect, may take effect later, or may
 * never take effect; only a later read can tell.
 */
export interface ItemStore {
  readonly guarantees: ListGuarantees

  /** Statistics about network traffic. A store in process memory has none. */
  readonly traffic?: StoreTraffic

  /**
   * Namespace UUID for the ids that are derived from an `Idempotency-Key`. All services that share a store use the
   * same UUID.
   */
  readonly namespace: string

  /**
   * Stores a new item. The caller must not change the item's bytes afterwards, because a store may keep them without a
   * copy.
   * @returns whether the item was stored. If the id is already in use, nothing changes and the result is `false`.
   */
  create(id: ItemId, item: EncodedItem): Awaitable<boolean>

  /** Returns the bytes of an item, or `undefined` if no item has this id. */
  read(id: ItemId): Awaitable<EncodedItem | undefined>

  /**
   * Replaces the item with this id. The new item has the same position in the list.
   * @param expected an item that `read` returned. If another item has replaced the expected item, the outcome is
   * `unexpected`. If the other item has equal bytes, the outcome may also be `done`.
   */
  replace(id: ItemId, item: EncodedItem, expected?: EncodedItem): Awaitable<ChangeOutcome>

  /** Deletes the item with this id. @param expected as for `replace`. */
  delete(id: ItemId, expected?: EncodedItem): Awaitable<ChangeOutcome>

  /**
   * Lists all items. Resolves once the first chunk has been read, and rejects if the store cannot be read. The caller
   * may pause between chunks.
   * @param project restricts the list to the items of one project. This takes as long as listing all items.
   */
  list(project?: string): Awaitable<ItemList>

  /**
   * Returns a text of visible ASCII characters that changes with each create, replace and delete.
   * @param project restricts the version to items of one project. Changes to other items may change the version too.
   */
  version(project?: string): Awaitable<string>

  /**
   * Calls the callback after each change to the watched items: immediately if this service made the change, and soon
   * if another service did. The callback may also be called without a change.
   * @returns a function that ends the watch.
   */
  watch(watched: Watched, callback: () => void): () => void

  /** Returns the number of items, and the memory that the items take. */
  size(): Awaitable<StoreSize>

  /** Removes all items. A store on a server does not have this method, because other services may use the store too. */
  clear?(): void

  /**
   * Returns whether the store can serve requests now (spec §2.4). Never throws, and always ends within a time limit.
   */
  healthy(): Awaitable<boolean>

  /** Closes the connections of the store and frees its memory. No operation may follow. */
  close(): Awaitable<void>
}

type StoreErrorCode =
  /** There is no room for an item, or no memory for a change; items can still be read and deleted. */
  | 'STORE_FULL'
  /** The store cannot be reached, did not respond in time, or rejected the request. */
  | 'STORE_UNAVAILABLE'

/** The settings of this service do not match the stored data. The message is one line and says what to change. */
export class StoreMismatchError extends Error {
  override readonly name = 'StoreMismatchError'
}

/** An expected failure of a store. Clients see the message, so the message reveals no internals. */
export class StoreError extends Error {
  override readonly name = 'StoreError'
  readonly code: StoreErrorCode
  /** Whether the failed operation was a change that may have taken effect. */
  readonly isOutcomeUnknown: boolean

  /** @param options `cause` goes to the log only. */
  constructor(
    code: StoreErrorCode,
    message: string,
    { isOutcomeUnknown = false, ...options }: ErrorOptions & { isOutcomeUnknown?: boolean } = {},
  ) {
    super(message, options)
    this.code = code
    this.isOutcomeUnknown = isOutcomeUnknown
  }
}

/** Returns the `STORE_FULL` error of a store in process memory that gets no more memory from the operating system. */
export function outOfMemory(cause: Error): StoreError {
  return new StoreError('STORE_FULL', 'The store has no memory left', { cause })
}
