/**
 * The contract of a store: what stands between the HTTP side and the place where items are kept.
 *
 * A store knows neither HTTP nor JSON. It keeps the bytes it is given and hands the same bytes
 * back. Each operation may return a value or a promise, so that a store across the network fits the
 * same contract, while one in process memory pays nothing for it.
 *
 * @module
 */

import type { ItemId } from '../item/id.js'
import type { EncodedItem } from '../item/item.js'

/** A value, or a promise of one. */
export type Awaitable<T> = T | Promise<T>

/** What a store guarantees about its lists. */
export interface ListGuarantees {
  /**
   * Whether a list is a snapshot: nothing that is created, replaced or deleted after `list` resolved
   * shows in it. Otherwise an item present throughout shows exactly once.
   */
  readonly isSnapshot: boolean
  /** Whether items are listed in the order in which they were created. */
  readonly isInOrder: boolean
}

/** What came of changing one item. */
export type ChangeOutcome =
  | 'done'
  /** The id is not in the store; nothing has changed. */
  | 'absent'
  /** The item is not the expected one; nothing has changed. */
  | 'unexpected'

/** What is watched: an item, the items of a project, or all items. */
export type Watched =
  | { readonly id: ItemId }
  /** `undefined` for all items. */
  | { readonly project: string | undefined }

/** All items, or those of a project. */
export interface ItemList {
  /** The version of these items (`ItemStore.version`) from before the first one was read. */
  readonly version: string
  /**
   * Total length of the chunks in bytes, if they are all in memory: then they can be read any number of times.
   * `undefined` if it is not known before the end.
   */
  readonly byteLength: number | undefined
  /**
   * The items as JSON texts separated by commas; a chunk may end inside an item, and where a filter finds nothing, it
   * is empty. Reading them may throw a `StoreError`.
   */
  readonly chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>
  /**
   * Releases what the list holds, whether or not it was read to its end. Call it once no chunk is in
   * use any more; further calls do nothing.
   */
  release(): void
}

export interface StoreSize {
  /** Number of items. */
  readonly items: number
  /** Bytes of their texts. */
  readonly itemBytes: number
  /** Bytes of memory held for the texts; of a Redis server, all that it uses. */
  readonly memoryBytes: number
  /** What counts against `maxBytes`. */
  readonly usedBytes: number
  /** Beyond it, the store takes no more; `undefined` if it has no such limit. */
  readonly maxBytes: number | undefined
}

/** What happens between this process and a store across the network. */
export interface StoreTraffic {
  /** Number of commands that were sent and have no reply yet. */
  readonly inFlight: number
  /** Number of commands that are not sent yet, since too much is in flight. */
  readonly waiting: number
  /** How often a connection that was lost was made again. */
  readonly reconnections: number
  /** How often a server of a cluster named another one for a command. */
  readonly redirections: number
  /** Number of changes of which it is unknown whether they took effect. */
  readonly unknownOutcomes: number
  /** Called with the time from each command to its reply, in seconds. */
  onRoundTrip: ((seconds: number) => void) | undefined
}

/**
 * A collection of items.
 *
 * Every operation may throw a `StoreError`. After `STORE_FULL` the store is as it was before. After
 * `STORE_UNAVAILABLE` the outcome of a create, replace or delete is unknown: it may have taken effect,
 * may still do so, or never will; only a later read can tell.
 */
export interface ItemStore {
  readonly guarantees: ListGuarantees

  /** Left out by a store in process memory. */
  readonly traffic?: StoreTraffic

  /** A UUID: ids that follow from keys are derived in it. Services that share a store have the same. */
  readonly namespace: string

  /**
   * Stores a new item, whose bytes do not change any more: a store may keep them where they are.
   * @returns whether it was stored: not if the id is in the store, whose item stays as it is.
   */
  create(id: ItemId, item: EncodedItem): Awaitable<boolean>

  /** The item's bytes, or `undefined` for an id that is not in the store. */
  read(id: ItemId): Awaitable<EncodedItem | undefined>

  /**
   * Replaces the item with this id; the new one takes its place in the list.
   * @param expected only if the item is still this one, which `read` returned. For an equal item that has taken its
   * place, the outcome is `done` or `unexpected`.
   */
  replace(id: ItemId, item: EncodedItem, expected?: EncodedItem): Awaitable<ChangeOutcome>

  /** @param expected as for `replace`. */
  delete(id: ItemId, expected?: EncodedItem): Awaitable<ChangeOutcome>

  /**
   * Lists the items. Resolves once the first chunk has been read, so that a store that cannot be read fails here.
   * @param project only its items. To find them takes as long as to look at all: whoever reads the chunks may pause
   * between them.
   */
  list(project?: string): Awaitable<ItemList>

  /**
   * Visible ASCII characters that each create, replace and delete changes; found out without reading items.
   * @param project then each change of its items, and perhaps other changes.
   */
  version(project?: string): Awaitable<string>

  /**
   * Calls back after each change of what is watched: at once where this service made it, soon after where
   * another one did. May call back without a change.
   * @returns what ends it.
   */
  watch(watched: Watched, callback: () => void): () => void

  /** How much is stored. */
  size(): Awaitable<StoreSize>

  /** Removes all items. Left out by a store across the network, which others use as well. */
  clear?(): void

  /** Whether the store can serve requests now (spec §2.4). Never throws, and takes bounded time. */
  healthy(): Awaitable<boolean>

  /** Releases everything the store holds. No operation may follow. */
  close(): Awaitable<void>
}

/** Why an operation failed. */
type StoreErrorCode =
  /** There is no room for the item, or no memory for the change; items can still be read and deleted. */
  | 'STORE_FULL'
  /** The store cannot be reached, or did not respond in time. */
  | 'STORE_UNAVAILABLE'

/** The settings do not fit the items that are stored already: an error for the user to correct, in one line. */
export class StoreMismatchError extends Error {
  override readonly name = 'StoreMismatchError'
}

/** An expected failure of a store. Clients see the message, so it reveals no internals. */
export class StoreError extends Error {
  override readonly name = 'StoreError'
  readonly code: StoreErrorCode
  /** Whether it is about a change that may have taken effect. */
  readonly isOutcomeUnknown: boolean

  /** @param options `cause` is for the log. */
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

/** The error of a store in process memory to which the system refuses memory. */
export function outOfMemory(cause: Error): StoreError {
  return new StoreError('STORE_FULL', 'The store has no memory left', { cause })
}
