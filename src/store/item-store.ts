/** The interface of item stores, which keep items in process memory or on a Redis server. @module */

import type { ItemId } from '../item/id.js'
import type { EncodedItem } from '../item/item.js'
import type { ReadMemory } from '../memory/read-memory.js'
import type { Limit } from '../memory/shares.js'

export type Awaitable<T> = T | Promise<T>

/** After `absent` (no item has the id) or `unexpected` (it differs from `expected`), nothing has changed. */
export type ChangeOutcome = 'done' | 'absent' | 'unexpected'

export type Watched =
  | { readonly id: ItemId }
  /** Project whose items are watched; `undefined` for all items. */
  | { readonly project: string | undefined }

export interface ItemList {
  readonly version: string // from before the first item was read; see `ItemStore.version`
  /** Total length of the chunks in bytes. If `undefined`, they can be read only once. */
  readonly byteLength: number | undefined
  /** JSON texts of the items, separated by commas. A chunk may be empty, or end inside an item. */
  readonly chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>
  /** Memory kept only for this list. Call its `addReader` before reading, so that it counts against a limit. */
  readonly memory: ReadMemory
  /** Frees the list's memory. Call it once no chunk is in use any more. */
  release(): void
}

export interface StoreSize {
  readonly items: number
  readonly itemBytes: number // of the JSON texts of all items
  /** Memory that holds the items, in bytes; for a Redis store, all that the servers use. */
  readonly memoryBytes: number
  readonly usedBytes: number
  readonly maxBytes: number | undefined
}

export interface StoreTraffic {
  readonly inFlight: number
  readonly waiting: number // commands held back by the in-flight limit
  readonly reconnections: number
  readonly redirections: number
  readonly unknownOutcomes: number
  /** Called after the replies to commands sent together, with the round-trip time in seconds. */
  onRoundTrip: ((seconds: number) => void) | undefined
}

/**
 * A collection of items. Every operation may throw a `StoreError` or, if the system has no memory left, a `RangeError`.
 * After `STORE_FULL` and a `RangeError`, nothing has changed, and items can still be read and deleted.
 * After `STORE_UNAVAILABLE`, a change may have taken effect, or may take effect later.
 */
export interface ItemStore {
  readonly guarantees: {
    /** Whether a list contains all items exactly as they were when `list` resolved. */
    readonly isSnapshot: boolean
    readonly isInOrder: boolean
  }

  /** Traffic with Redis servers; `undefined` for an in-memory store. */
  readonly traffic?: StoreTraffic

  /** Limits besides `maxBytes` in `size`. A change that would exceed one throws `STORE_FULL`. */
  readonly limits?: readonly Limit[]

  /** Namespace UUID for ids derived from an `Idempotency-Key`, shared by services that share the store. */
  readonly namespace: string

  /** Stores a new item, whose bytes must not change afterwards. @returns `false` if the id is in use. */
  create(id: ItemId, item: EncodedItem): Awaitable<boolean>

  read(id: ItemId): Awaitable<EncodedItem | undefined>

  /**
   * Replaces an item, without changing its position in lists.
   * @param expected a result of `read`. If the stored item has different bytes, the outcome is `unexpected`.
   */
  replace(id: ItemId, item: EncodedItem, expected?: EncodedItem): Awaitable<ChangeOutcome>

  delete(id: ItemId, expected?: EncodedItem): Awaitable<ChangeOutcome>

  /**
   * Lists all items, or the items of a project. Resolves once the first chunk has been read.
   * An item that exists during the whole read is listed exactly once.
   */
  list(project?: string): Awaitable<ItemList>

  /** Returns a text of visible ASCII characters, a new one after each change to an item of the store or project. */
  version(project?: string): Awaitable<string>

  /** Calls the callback after each change, and possibly at other times. @returns a function that stops the calls. */
  watch(watched: Watched, callback: () => void): () => void

  size(): Awaitable<StoreSize>

  /** Removes all items. A Redis store can't: other services may use them. */
  clear?(): void

  /** Returns whether the store can serve requests now (spec §2.4). Never throws. */
  healthy(): Awaitable<boolean>

  /** Closes connections and frees memory. No operation may be called afterwards. */
  close(): Awaitable<void>
}

type StoreErrorCode = 'STORE_FULL' | 'STORE_UNAVAILABLE'

/** Thrown if the settings don't match the stored data. The message, a single line, says what to change. */
export class StoreMismatchError extends Error {
  override readonly name = 'StoreMismatchError'
}

/** An expected failure of a store. Clients see the message, so it must not reveal internals. */
export class StoreError extends Error {
  override readonly name = 'StoreError'
  readonly code: StoreErrorCode
  readonly isOutcomeUnknown: boolean // a change may have taken effect

  constructor(
    code: StoreErrorCode,
    message: string,
    options: { cause?: unknown; isOutcomeUnknown?: boolean } = {},
  ) {
    super(message, options)
    this.code = code
    this.isOutcomeUnknown = options.isOutcomeUnknown ?? false
  }
}
