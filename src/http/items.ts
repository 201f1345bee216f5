/** Operations on items, and the handlers of the item endpoints (spec §4.2 to §4.6). @module */

import { ApiError } from '../interface/errors.js'
import { type HeaderList, itemPath, neverStored, replayedHeader } from '../interface/paths.js'
import { type ItemId, type NewId, namedItemId, newItemId, parseItemId } from '../item/id.js'
import { type EncodedItem, encodedItem } from '../item/item.js'
import { type ArrivingBody, readItemRequest } from '../item/item-request.js'
import type { Awaitable, ChangeOutcome, ItemList, ItemStore } from '../store/item-store.js'
import { StoreError } from '../store/item-store.js'
import { answerEmpty, type SentList, sendChunks, writeJsonHead } from './answer.js'
import type { ReadBody } from './body.js'
import { type Conditions, conditionsOf, type EntityTag, itemTag, requireMet } from './conditions.js'
import type { Exchange, Handler } from './exchange.js'
import { prefixOf } from './forwarded.js'
import { keyedName, requestedProject } from './parameters.js'
import { readList, readSharedList } from './shared-lists.js'
import type { ReadResult, WaitingReads } from './waiting-reads.js'

const retrieved = envelope(200, 'success', 'Item retrieved successfully')
const listed = envelope(200, 'success', 'Items retrieved successfully', '[', ']')
const created = envelope(201, 'created', 'Item created successfully')
const updated = envelope(200, 'updated', 'Item updated successfully')
const sentAtOnce = 16 * 1024 // bytes up to which data is copied, to send the response at once

export type ItemOperations = ReturnType<typeof createItemOperations>

export function createItemOperations(
  store: ItemStore,
  waitingReads: WaitingReads,
  maxSharedListBytes: number,
  newId: NewId = (name) => (name === undefined ? newItemId() : namedItemId(store.namespace, name)),
) {
  const listTag = (version: string): EntityTag =>
    store.guarantees.isSnapshot ? `"${version}"` : `W/"${version}"`

  async function taggedItem(stored: Awaitable<EncodedItem | undefined>) {
    const item = await stored
    return item && { item, tag: await itemTag(item), bodyBytes: item.length }
  }

  async function taggedList(project: string | undefined) {
    const tag = listTag(await store.version(project))
    // Only the length of a snapshot of all items can be computed from the store's size.
    const isKnown = store.guarantees.isSnapshot && project === undefined
    const size = isKnown ? await store.size() : undefined
    const byteLength = size && size.itemBytes + Math.max(0, size.items - 1)
    let shared: ItemList | undefined
    return {
      tag,
      byteLength,
      /** Length of the shared list in bytes; 0 if there is none. */
      get bodyBytes(): number {
        return shared?.byteLength ?? 0
      },
      /** Reads a list that several responses share, unless it's too long. */
      async open(): Promise<void> {
        shared = await readSharedList(store, maxSharedListBytes, project)
      },
      list: async () => shared ?? (await readList(store, project)),
    }
  }

  const itemUntilModified = waitingReads.of(
    (id: ItemId) => taggedItem(store.read(id)),
    (id) => ({ id }),
  )
  const listUntilModified = waitingReads.of(taggedList, (project) => ({ project }))

  /** Reads an item before a change. Its errors say that nothing has changed. */
  async function readBeforeChange(id: ItemId): Promise<EncodedItem | undefined> {
    try {
      return await store.read(id)
    } catch (error) {
      if (!(error instanceof StoreError)) throw error
      const { code, message, cause } = error
      throw new StoreError(code, `${message}; nothing has changed`, { cause })
    }
  }

  /**
   * Changes or deletes an item, and tries again if another request has changed it meanwhile.
   * @throws {ApiError} 404 or `PRECONDITION_FAILED`.
   */
  async function changeItem(
    exchange: Exchange,
    id: ItemId,
    conditions: Conditions | undefined,
    change: (expected?: EncodedItem) => Awaitable<ChangeOutcome>,
  ): Promise<void> {
    for (let outcome: ChangeOutcome = 'unexpected'; outcome !== 'done'; ) {
      let expected: EncodedItem | undefined
      if (conditions !== undefined) {
        const { item, tag } = present(exchange, await taggedItem(readBeforeChange(id)))
        requireMet(conditions, tag)
        expected = item
      }
      exchange.requireNoReset?.()
      outcome = await change(expected)
      if (outcome === 'absent') throw itemNotFound(exchange)
    }
  }

  return {
    taggedList,
    itemUntilModified,
    listUntilModified,

    /** Reads a list. @param modified the state of the list after a wait, if there was one. */
    async list(project: string | undefined, modified?: Awaited<ReturnType<typeof taggedList>>) {
      const list = await (modified ? modified.list() : readList(store, project))
      return { list, tag: listTag(list.version) }
    },

    read: (id: ItemId) => taggedItem(store.read(id)),

    /** Returns the id of a new item. @param name see `keyedName`. */
    newId(exchange: Exchange, name: string | undefined): ItemId {
      exchange.requireNoReset?.()
      return newId(name)
    },

    /** Creates an item, unless an earlier attempt has created it. @throws {ApiError} `IDEMPOTENCY_CONFLICT`. */
    async create(exchange: Exchange, { id, item }: ReceivedItem) {
      const tag = await itemTag(item)
      exchange.requireNoReset?.()
      let isReplayed = false
      while (!isReplayed && !(await store.create(id, item))) {
        const stored = await readBeforeChange(id)
        isReplayed = stored !== undefined // otherwise deleted in the meantime, so the id is free again
        if (stored && (await itemTag(stored)) !== tag) throw keyConflict(locationOf(exchange, id))
      }
      return { tag, isReplayed }
    },

    async replace(exchange: Exchange, { id, item }: ReceivedItem, conditions?: Conditions) {
      await changeItem(exchange, id, conditions, (expected) => store.replace(id, item, expected))
    },

    async delete(exchange: Exchange, id: ItemId, conditions?: Conditions): Promise<void> {
      await changeItem(exchange, id, conditions, (expected) => store.delete(id, expected))
    },
  }
}

export function createItemHandlers(
  operations: ItemOperations,
  readBody: ReadBody,
): Readonly<Record<'list' | 'create' | 'read' | 'replace' | 'delete', Handler>> {
  return {
    list: async function listItems(exchange) {
      const conditions = conditionsOf(exchange.request.headers)
      const project = requestedProject(exchange)
      const result =
        conditions && (await operations.listUntilModified(exchange, conditions, project))
      if (result && result.modified === undefined) return answerNotModified(exchange, result)
      const { modified, preferenceHeaders = [] } = result ?? {}
      if (exchange.request.method === 'HEAD') {
        const { tag, byteLength } = modified ?? (await operations.taggedList(project))
        return answerData(exchange, listed, { byteLength, chunks: [] }, [
          'ETag',
          tag,
          ...preferenceHeaders,
        ])
      }
      const { list, tag } = await operations.list(project, modified)
      return answerData(exchange, listed, list, ['ETag', tag, ...preferenceHeaders])
    },

    create: async function createItem(exchange) {
      const { 'idempotency-key': key } = exchange.request.headers
      const name = keyedName(exchange, key?.toString())
      const idOf = () => operations.newId(exchange, name)
      const received = await readBody(exchange, (body) => itemIn(body, idOf))
      const { tag, isReplayed } = await operations.create(exchange, received)
      const headers = ['ETag', tag, ...locationOf(exchange, received.id)]
      if (isReplayed) headers.push(replayedHeader, 'true')
      return answerItem(exchange, created, received.item, headers)
    },

    read: async function readItem(exchange) {
      const conditions = conditionsOf(exchange.request.headers)
      const id = itemIdOf(exchange)
      const result =
        conditions &&
        present(exchange, await operations.itemUntilModified(exchange, conditions, id))
      if (result && result.modified === undefined) return answerNotModified(exchange, result)
      const { modified, preferenceHeaders = [] } = result ?? {}
      const { item, tag } = modified ?? present(exchange, await operations.read(id))
      return answerItem(exchange, retrieved, item, ['ETag', tag, ...preferenceHeaders])
    },

    replace: async function replaceItem(exchange) {
      const conditions = conditionsOf(exchange.request.headers)
      const received = await readBody(exchange, (body) => itemIn(body, () => itemIdOf(exchange)))
      await operations.replace(exchange, received, conditions)
      return answerItem(exchange, updated, received.item, ['ETag', await itemTag(received.item)])
    },

    delete: async function deleteItem(exchange) {
      const conditions = conditionsOf(exchange.request.headers)
      await operations.delete(exchange, itemIdOf(exchange), conditions)
      answerEmpty(exchange, 204)
    },
  }
}

export type ReceivedItem = { readonly id: ItemId; readonly item: EncodedItem }

/** Reads an item from a body. Not declared inside a handler: the first call of a new generator function costs 8 µs. */
export function* itemIn(body: ArrivingBody, idOf: () => ItemId) {
  const itemRequest = yield* readItemRequest(body)
  const id = idOf()
  return { id, item: yield* encodedItem(id, itemRequest) }
}

export function locationOf(exchange: Exchange, id: ItemId): HeaderList {
  return ['Location', prefixOf(exchange) + itemPath(id)]
}

function keyConflict(location: HeaderList): ApiError {
  const detail = 'This Idempotency-Key already belongs to another item; Location has its path'
  return new ApiError('IDEMPOTENCY_CONFLICT', detail, { headers: location })
}

export function itemIdOf(exchange: Exchange): ItemId {
  return present(exchange, parseItemId(exchange.segment))
}

function itemNotFound({ segment }: Exchange): ApiError {
  return new ApiError('itemNotFound', `Item ${segment} not found`)
}

/** @throws {ApiError} 404 if nothing was found. */
export function present<T>(exchange: Exchange, found: T | undefined): T {
  if (found === undefined) throw itemNotFound(exchange)
  return found
}

function answerNotModified(exchange: Exchange, { tag, preferenceHeaders }: ReadResult): void {
  answerEmpty(exchange, 304, ['ETag', tag, ...neverStored, ...preferenceHeaders])
}

type Envelope = ReturnType<typeof envelope>

/** Returns the text around `data` in a response body (spec §2.3). `before` follows the session id. */
function envelope(statusCode: number, status: string, message: string, open = '', close = '') {
  const before = `","status":"${status}","message":"${message}","data":${open}`
  return { statusCode, before, after: `${close}}` }
}

function answerItem(exchange: Exchange, parts: Envelope, item: EncodedItem, headers: HeaderList) {
  return answerData(exchange, parts, { byteLength: item.length, chunks: [item] }, headers)
}

/** Sends items as `data`. A short response is sent as Latin-1 text: one character per byte of UTF-8. */
function answerData(
  exchange: Exchange,
  { statusCode, before, after }: Envelope,
  data: SentList,
  headers: HeaderList,
): Awaitable<void> {
  const { connection, request, response, sessionId } = exchange
  const { byteLength, chunks } = data
  const opening = `{"session_id":"${sessionId}${before}`
  const length = byteLength === undefined ? undefined : opening.length + byteLength + after.length
  if (!writeJsonHead(exchange, statusCode, length, headers)) return data.release?.()
  if (request.method === 'HEAD') return connection.batch.end(response)
  if (!Array.isArray(chunks) || byteLength === undefined || byteLength > sentAtOnce) {
    return sendChunks(exchange, opening, data, after)
  }
  const [first] = chunks
  const bytes = chunks.length === 1 && Buffer.isBuffer(first) ? first : Buffer.concat(chunks)
  connection.batch.end(response, `${opening}${bytes.toString('latin1')}${after}`)
  data.release?.()
}
