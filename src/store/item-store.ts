/**
 * What every store of items offers: the interface between the HTTP side and the place where
 * items are kept.
 *
 * A store knows neither HTTP nor JSON. It keeps the bytes it was given and hands the same bytes
 * back. Each operation may answer at once or with a promise, so that a store over the network
 * fits the same interface while one in process memory pays nothing for it.
 *
 * @module
 */

declare const itemId: unique symbol
declare const encodedItem: unique symbol

/** The id of an item: a UUID in lower case (spec §2.1). Made by `newItemId` and `parseItemId`. */
export type ItemId = string & { readonly [itemId]: true }

/** One item as JSON text in UTF-8, `id` and `project_id` included. Made by `encodeItem`. */
export type EncodedItem = Buffer & { readonly [encodedItem]: true }

/** A value that is there already or comes later. */
export type Awaitable<T> = T | Promise<T>

/** What a store promises of its lists. */
export interface ListGuarantees {
  /**
   * Whether a list shows the items of one moment: what is created, replaced or deleted after `list`
   * resolved does not show in it. Otherwise an item that is there all the while shows exactly once.
   */
  readonly isSnapshot: boolean
  /** Whether items are listed in the order in which they were created. */
  readonly isInOrder: boolean
}

/** All items. */
export interface ItemList {
  /** Length of all chunks together in bytes; `undefined` where nobody knows it before the end. */
  readonly byteLength: number | undefined
  /**
   * The items as JSON texts with a comma between each two; a chunk may end inside an item. Reading
   * them may throw a `StoreError`.
   */
  readonly chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>
  /**
   * Ends the list, read to its end or not: what it holds is given back. To be called when no chunk is
   * in use any more; further calls do nothing.
   */
  release(): void
}

export interface StoreSize {
  /** Number of items. */
  readonly items: number
  /** Bytes of their texts. */
  readonly itemBytes: number
  /** Bytes of memory that are held for texts; of an engine, all that it uses. */
  readonly pageBytes: number
}

/**
 * A collection of items.
 *
 * Every operation may throw a `StoreError`. After `STORE_FULL` the store is as it was before. After
 * `STORE_UNAVAILABLE` the outcome of a create, replace or delete is unknown: it may have happened, may
 * still happen, or may not; nothing but a later read tells.
 */
export interface ItemStore {
  readonly guarantees: ListGuarantees

  /** Keeps a new item. */
  create(id: ItemId, item: EncodedItem): Awaitable<void>

  /** The item's bytes, or `undefined` for an id that is not in the store. */
  read(id: ItemId): Awaitable<EncodedItem | undefined>

  /**
   * Puts `item` in the place of the one with this id, and keeps its place in the list.
   * @returns whether the id was in the store; if not, nothing has changed.
   */
  replace(id: ItemId, item: EncodedItem): Awaitable<boolean>

  /** @returns whether the id was in the store. */
  delete(id: ItemId): Awaitable<boolean>

  /** Resolves once the first chunk is there, so that a store that cannot be read is told of in time. */
  list(): Awaitable<ItemList>

  /** How much there is. */
  size(): Awaitable<StoreSize>

  /** Removes all items. */
  clear(): Awaitable<void>

  /** Whether the store can serve requests now (spec §2.4). Never throws, and takes a bounded time. */
  healthy(): Awaitable<boolean>

  /** Lets go of everything the store holds. No operation may follow. */
  close(): Awaitable<void>
}

/** Why a store does not do what it is asked for. */
export type StoreErrorCode =
  /** There is no room for the item, or no memory for the change; other items are read and deleted. */
  | 'STORE_FULL'
  /** The store cannot be reached, or not in time. */
  | 'STORE_UNAVAILABLE'

/** An expected failure of a store. The client is told the message, so it shows no internals. */
export class StoreError extends Error {
  override readonly name = 'StoreError'
  readonly code: StoreErrorCode

  /** @param options `cause` is for the log. */
  constructor(code: StoreErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
