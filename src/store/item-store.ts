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

/**
 * All items of one moment, in the order they were created. What is created, replaced or deleted
 * after `list` returned does not show in it.
 */
export interface ItemList {
  /** Length of all chunks together, in bytes. */
  readonly byteLength: number
  /** The items as JSON texts with a comma between each two; a chunk may end inside an item. */
  readonly chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>
  /** To be called when no chunk is read any more: their memory is used again after that. */
  release(): void
}

export interface StoreSize {
  /** Number of items. */
  readonly items: number
  /** Bytes of their texts. */
  readonly itemBytes: number
  /** Bytes of memory that are held for texts. */
  readonly pageBytes: number
}

export interface ItemStore {
  /**
   * Keeps a new item.
   * @throws {StoreFullError} when the item does not fit; the store is then as before.
   */
  create(id: ItemId, item: EncodedItem): Awaitable<void>

  /** The item's bytes, or `undefined` for an id that is not in the store. */
  read(id: ItemId): Awaitable<EncodedItem | undefined>

  /**
   * Puts `item` in the place of the one with this id, and keeps its place in the list.
   * @returns whether the id was in the store; if not, nothing has changed.
   * @throws {StoreFullError} when the item is longer than the old one and does not fit.
   */
  replace(id: ItemId, item: EncodedItem): Awaitable<boolean>

  /** @returns whether the id was in the store. */
  delete(id: ItemId): Awaitable<boolean>

  list(): Awaitable<ItemList>

  /** How much there is. */
  size(): Awaitable<StoreSize>

  /** Whether the store can serve requests now (spec §2.4). */
  healthy(): Awaitable<boolean>

  /** Lets go of everything the store holds. No operation may follow. */
  close(): Awaitable<void>
}

/** The store has no room for the item; reads and deletes go on, and deleting makes room. */
export class StoreFullError extends Error {
  override readonly name = 'StoreFullError'

  /** @param maxBytes the limit of the store in bytes. */
  constructor(maxBytes: number) {
    super(`The store is full: it may hold ${maxBytes} bytes`)
  }
}
