/** The item endpoints (spec §4.2 to §4.6). @module */

import { ApiError } from '../interface/errors.js'
import type { HeaderList } from '../interface/headers.js'
import { itemPath } from '../interface/paths.js'
import { newItemId, parseItemId } from '../item/id.js'
import { encodeItem, parseItemRequest } from '../item/item-request.js'
import { endTogether } from '../listener/end-together.js'
import type { Awaitable, EncodedItem, ItemId, ItemList, ItemStore } from '../store/item-store.js'
import { answerEmpty, startJson } from './answer.js'
import type { ReadBody } from './body.js'
import type { Exchange, Handler } from './exchange.js'
import { sendChunks } from './send-chunks.js'

const retrieved = envelope('success', 'Item retrieved successfully')
const listed = envelope('success', 'Items retrieved successfully')
const created = envelope('created', 'Item created successfully')
const updated = envelope('updated', 'Item updated successfully')
/** Items longer than this, in bytes, are sent as they are, without another copy as a string: many may be in flight. */
const longItem = 16 * 1024

const sessionStart = '{"session_id":"'

type ItemHandlers = Readonly<Record<'list' | 'create' | 'read' | 'replace' | 'delete', Handler>>

/** The handlers of `/items` and `/items/{item_id}`. */
export function createItemHandlers(store: ItemStore, readBody: ReadBody): ItemHandlers {
  return {
    list: async function listItems(exchange) {
      return answerList(exchange, await store.list())
    },

    create: async function createItem(exchange) {
      const itemRequest = parseItemRequest(await readBody(exchange.request, exchange.response))
      const id = newItemId()
      const item = encodeItem(id, itemRequest)
      await store.create(id, item)
      return answerItem(exchange, 201, created, item, ['Location', itemPath(id)])
    },

    read: async function readItem(exchange) {
      const item = await store.read(itemIdOf(exchange))
      if (item === undefined) throw itemNotFound(exchange)
      return answerItem(exchange, 200, retrieved, item)
    },

    replace: async function replaceItem(exchange) {
      const itemRequest = parseItemRequest(await readBody(exchange.request, exchange.response))
      const id = itemIdOf(exchange)
      const item = encodeItem(id, itemRequest)
      if (!(await store.replace(id, item))) throw itemNotFound(exchange)
      return answerItem(exchange, 200, updated, item)
    },

    delete: async function deleteItem(exchange) {
      if (!(await store.delete(itemIdOf(exchange)))) throw itemNotFound(exchange)
      answerEmpty(exchange, 204)
    },
  }
}

/** Text that is not a UUID is just another unknown id. */
function itemIdOf(exchange: Exchange): ItemId {
  const id = parseItemId(requestedId(exchange))
  if (id === undefined) throw itemNotFound(exchange)
  return id
}

/** The 404 for an unknown id, which the text contains (spec §7). */
function itemNotFound(exchange: Exchange): ApiError {
  return new ApiError(404, `Item ${requestedId(exchange)} not found`)
}

/** The id in the path as the client wrote it. */
function requestedId({ params }: Exchange): string {
  return params.item_id ?? ''
}

/** The part of the envelope between the session id and the data (spec §2.3). */
function envelope(status: string, message: string): string {
  return `","status":"${status}","message":"${message}","data":`
}

/** Answers with one item. As Latin-1, the text has one character for each byte of UTF-8. */
function answerItem(
  exchange: Exchange,
  status: number,
  middle: string,
  item: EncodedItem,
  headers?: HeaderList,
): Awaitable<void> {
  const { connection, response, sessionId } = exchange
  const before = `${sessionStart}${sessionId}${middle}`
  if (!startJson(exchange, status, before.length + item.length + 1, headers)) return
  if (item.length > longItem) {
    const chunks = { chunks: [item], release: () => undefined }
    return sendChunks(connection, response, before, chunks, '}')
  }
  endTogether(response, `${before}${item.toString('latin1')}}`)
}

/** Answers with all items. */
function answerList(exchange: Exchange, list: ItemList): Awaitable<void> {
  const { connection, request, response, sessionId } = exchange
  const before = `${sessionStart}${sessionId}${listed}[`
  const { byteLength } = list
  const length = byteLength === undefined ? undefined : before.length + byteLength + 2
  const isStarted = startJson(exchange, 200, length)
  if (isStarted && request.method !== 'HEAD') {
    return sendChunks(connection, response, before, list, ']}')
  }
  list.release()
  if (isStarted) endTogether(response)
}
