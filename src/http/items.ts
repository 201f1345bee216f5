/** Handlers of the item endpoints (spec §4.2 to §4.6). @module */

import { ApiError } from '../interface/errors.js'
import { type HeaderList, itemPath, neverStored, replayedHeader } from '../interface/names.js'
import { type ItemId, type NewId, namedItemId, newItemId, parseItemId } from '../item/id.js'
import { type EncodedItem, encodedItem, encodeItem } from '../item/item.js'
import { parseItemRequest, readItemRequest } from '../item/item-request.js'
import { areEqual } from '../item/slices.js'
import {
  type Awaitable,
  type ChangeOutcome,
  type ItemList,
  type ItemStore,
  StoreError,
} from '../store/item-store.js'
import { answerEmpty, sendChunks, startJson } from './answer.js'
import type { ReadBody } from './body.js'
import {
  type Conditions,
  conditionsOf,
  type EntityTag,
  isMatch,
  isNoneMatch,
  itemTag,
  preconditionFailed,
} from './conditions.js'
import type { Exchange, Handler } from './exchange.js'
import { keyedName, requestedProject } from './parameters.js'
import type { SharedList, SharedLists } from './shared-lists.js'
import { inTurns } from './turns.js'
import type { ReadResult, Tagged } from './wait.js'
import type { WaitingReads } from './waiting-reads.js'

const retrieved = envelope('success', 'Item retrieved successfully')
const listed = envelope('success', 'Items retrieved successfully', '[', ']')
const created = envelope('created', 'Item created successfully')
const updated = envelope('updated', 'Item updated successfully')
/** Maximum length of data that is copied before it is sent, in bytes. */
const longBody = 16 * 1024

/** Text around the `data` of a response body (spec §2.3). `before` begins after the session id. */
interface Envelope {
  readonly before: string
  readonly after: string
}

interface TaggedItem extends Tagged {
  readonly item: EncodedItem
}

type TaggedList = SharedList & {
  readonly tag: EntityTag
  /** Length of the items with the commas between them, in bytes; `undefined` if not known yet. */
  readonly byteLength: number | undefined
}

type ItemHandlers = Readonly<Record<'list' | 'create' | 'read' | 'replace' | 'delete', Handler>>

export function createItemHandlers(
  store: ItemStore,
  readBody: ReadBody,
  waitingReads: WaitingReads,
  sharedLists: SharedLists,
  newId: NewId = (name) => (name === undefined ? newItemId() : namedItemId(store.namespace, name)),
): ItemHandlers {
  const listTag = (version: string): EntityTag =>
    store.guarantees.isSnapshot ? `"${version}"` : `W/"${version}"`

  async function taggedItem(
    stored: Awaitable<EncodedItem | undefined>,
  ): Promise<TaggedItem | undefined> {
    const item = await stored
    return item && { item, tag: await itemTag(item), bodyBytes: item.length }
  }

  async function taggedList(project: string | undefined): Promise<TaggedList> {
    const tag = listTag(await store.version(project))
    // Only a snapshot of all items has the length that the store reports.
    const isKnown = store.guarantees.isSnapshot && project === undefined
    const size = isKnown ? await store.size() : undefined
    const byteLength = size && size.itemBytes + Math.max(0, size.items - 1)
    return Object.assign(sharedLists.create(project), { tag, byteLength })
  }

  const itemUntilModified = waitingReads.of(
    (id: ItemId) => taggedItem(store.read(id)),
    (id) => ({ id }),
  )
  const listUntilModified = waitingReads.of(taggedList, (project) => ({ project }))

  /** Reads an item before a change. If the read fails, the error says that nothing has changed. */
  async function readToChange(id: ItemId): Promise<EncodedItem | undefined> {
    try {
      return await store.read(id)
    } catch (error) {
      if (!(error instanceof StoreError)) throw error
      const { code, message, cause } = error
      throw new StoreError(code, `${message}; nothing has changed`, { cause })
    }
  }

  /** Retries after a concurrent change. @throws {ApiError} 404 or `PRECONDITION_FAILED`. */
  async function changeItem(
    exchange: Exchange,
    id: ItemId,
    conditions: Conditions | undefined,
    change: (expected?: EncodedItem) => Awaitable<ChangeOutcome>,
  ): Promise<void> {
    for (let outcome: ChangeOutcome = 'unexpected'; outcome !== 'done'; ) {
      let expected: EncodedItem | undefined
      if (conditions !== undefined) {
        const { item, tag } = present(exchange, await taggedItem(readToChange(id)))
        if (!isMatch(conditions, tag) || !isNoneMatch(conditions, tag))
          throw preconditionFailed(tag)
        expected = item
      }
      outcome = await change(expected)
      if (outcome === 'absent') throw itemNotFound(exchange)
    }
  }

  return {
    list: async function listItems(exchange) {
      const { headers, method } = exchange.request
      const conditions = conditionsOf(headers)
      const project = requestedProject(exchange)
      const result = conditions && (await listUntilModified(exchange, conditions, project))
      if (result && result.modified === undefined) return answerNotModified(exchange, result)
      const { modified, applied = [] } = result ?? {}
      if (method === 'HEAD') {
        const { tag, byteLength } = modified ?? (await taggedList(project))
        const list = { byteLength, chunks: [], release: nothing }
        return answerData(exchange, 200, listed, list, ['ETag', tag, ...applied])
      }
      const list = await (modified ? modified.list() : sharedLists.read(project))
      return answerData(exchange, 200, listed, list, ['ETag', listTag(list.version), ...applied])
    },

    create: async function createItem(exchange) {
      const name = keyedName(exchange)
      const { id, item } = await receivedItem(exchange, () => newId(name))
      const location = ['Location', itemPath(id)]
      while (!(await store.create(id, item))) {
        const stored = await readToChange(id)
        if (stored === undefined) continue // the item was deleted in the meantime, so the id is free again
        if (!(await inTurns(areEqual(stored, item)))) throw keyConflict(location)
        location.push(replayedHeader, 'true')
        break
      }
      return answerItem(exchange, 201, created, item, ['ETag', await itemTag(item), ...location])
    },

    read: async function readItem(exchange) {
      const conditions = conditionsOf(exchange.request.headers)
      const id = itemIdOf(exchange)
      if (conditions === undefined) {
        return answerRetrieved(exchange, present(exchange, await taggedItem(store.read(id))), [])
      }
      const result = present(exchange, await itemUntilModified(exchange, conditions, id))
      if (result.modified === undefined) return answerNotModified(exchange, result)
      return answerRetrieved(exchange, result.modified, result.applied)
    },

    replace: async function replaceItem(exchange) {
      const conditions = conditionsOf(exchange.request.headers)
      const { id, item } = await receivedItem(exchange, () => itemIdOf(exchange))
      await changeItem(exchange, id, conditions, (expected) => store.replace(id, item, expected))
      return answerItem(exchange, 200, updated, item, ['ETag', await itemTag(item)])
    },

    delete: async function deleteItem(exchange) {
      const conditions = conditionsOf(exchange.request.headers)
      const id = itemIdOf(exchange)
      await changeItem(exchange, id, conditions, (expected) => store.delete(id, expected))
      answerEmpty(exchange, 204)
    },
  }

  /** @param idOf called only if the body is valid. */
  function receivedItem(
    { request, response }: Exchange,
    idOf: () => ItemId,
  ): Awaitable<{ id: ItemId; item: EncodedItem }> {
    return readBody(request, response, {
      atOnce(body) {
        const itemRequest = parseItemRequest(body)
        const id = idOf()
        return { id, item: encodeItem(id, itemRequest) }
      },
      *inSlices(body) {
        const itemRequest = yield* readItemRequest(body)
        const id = idOf()
        return { id, item: yield* encodedItem(id, itemRequest) }
      },
    })
  }
}

function answerRetrieved(
  exchange: Exchange,
  { item, tag }: TaggedItem,
  applied: HeaderList,
): Awaitable<void> {
  return answerItem(exchange, 200, retrieved, item, ['ETag', tag, ...applied])
}

function answerNotModified(exchange: Exchange, { tag, applied }: ReadResult<Tagged>): void {
  answerEmpty(exchange, 304, ['ETag', tag, ...neverStored, ...applied])
}

/** Returns the error for an `Idempotency-Key` that belongs to a different item. */
function keyConflict(location: HeaderList): ApiError {
  const detail = 'This Idempotency-Key already belongs to another item; Location has its path'
  return new ApiError('IDEMPOTENCY_CONFLICT', detail, { headers: location })
}

/** @throws {ApiError} 404 if the id in the path is not a UUID. */
function itemIdOf(exchange: Exchange): ItemId {
  const id = parseItemId(requestedId(exchange))
  if (id === undefined) throw itemNotFound(exchange)
  return id
}

/** Returns a 404 whose message contains the id (spec §7). */
function itemNotFound(exchange: Exchange): ApiError {
  return new ApiError('itemNotFound', `Item ${requestedId(exchange)} not found`)
}

function present<T>(exchange: Exchange, found: T | undefined): T {
  if (found === undefined) throw itemNotFound(exchange)
  return found
}

function requestedId({ params }: Exchange): string {
  return params.item_id ?? ''
}

function envelope(status: string, message: string, open = '', close = ''): Envelope {
  const before = `","status":"${status}","message":"${message}","data":${open}`
  return { before, after: `${close}}` }
}

function nothing(): void {}

function answerItem(
  exchange: Exchange,
  status: number,
  parts: Envelope,
  item: EncodedItem,
  headers: HeaderList,
): Awaitable<void> {
  const data = { byteLength: item.length, chunks: [item], release: nothing }
  return answerData(exchange, status, parts, data, headers)
}

/** Sends short data as Latin-1 text, one character for each byte of UTF-8. */
function answerData(
  exchange: Exchange,
  status: number,
  { before, after }: Envelope,
  data: Pick<ItemList, 'byteLength' | 'chunks' | 'release'>,
  headers: HeaderList,
): Awaitable<void> {
  const { connection, request, response, sessionId } = exchange
  const { byteLength, chunks } = data
  const start = `{"session_id":"${sessionId}${before}`
  const length = byteLength === undefined ? undefined : start.length + byteLength + after.length
  if (!startJson(exchange, status, length, headers)) return data.release()
  if (request.method === 'HEAD') return connection.turn.end(response)
  if (!Array.isArray(chunks) || byteLength === undefined || byteLength > longBody) {
    return sendChunks(connection, response, start, data, after)
  }
  const [first] = chunks
  const bytes = chunks.length === 1 && Buffer.isBuffer(first) ? first : Buffer.concat(chunks)
  connection.turn.end(response, `${start}${bytes.toString('latin1')}${after}`)
  data.release()
}
