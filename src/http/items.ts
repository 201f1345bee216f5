/** The item endpoints (spec §4.2 to §4.6). @module */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { newItemId, parseItemId } from '../item/id.js'
import { encodeItem, parseItemRequest } from '../item/item-request.js'
import type { Awaitable, EncodedItem, ItemId, ItemList, ItemStore } from '../store/item-store.js'
import { answerEmpty, endAnswer, startJson } from './answer.js'
import type { ReadBody } from './body.js'
import { itemNotFound } from './errors.js'
import type { Handlers } from './routes.js'
import { sendChunks } from './send-chunks.js'

const retrieved = envelope('success', 'Item retrieved successfully')
const listed = envelope('success', 'Items retrieved successfully')
const created = envelope('created', 'Item created successfully')
const updated = envelope('updated', 'Item updated successfully')
/** An item of more bytes is sent as it lies in the store, as many may wait for it at a time. */
const longItem = 16 * 1024

const sessionStart = '{"session_id":"'

/** Handlers of `/items`. */
export function collectionHandlers(store: ItemStore, readBody: ReadBody): Handlers {
  return {
    GET: async function listItems(_request, reply) {
      return answerList(reply, await store.list())
    },

    POST: async function createItem(request, reply) {
      const itemRequest = parseItemRequest(await readBody(request.raw, reply.raw))
      const id = newItemId()
      const item = encodeItem(id, itemRequest)
      await store.create(id, item)
      return answerItem(reply, 201, created, item)
    },
  }
}

/** Handlers of `/items/{item_id}`. */
export function itemHandlers(store: ItemStore, readBody: ReadBody): Handlers {
  return {
    GET: async function readItem(request, reply) {
      const item = await store.read(itemIdOf(request))
      if (item === undefined) throw itemNotFound(requestedId(request))
      return answerItem(reply, 200, retrieved, item)
    },

    PUT: async function replaceItem(request, reply) {
      const itemRequest = parseItemRequest(await readBody(request.raw, reply.raw))
      const id = itemIdOf(request)
      const item = encodeItem(id, itemRequest)
      if (!(await store.replace(id, item))) throw itemNotFound(requestedId(request))
      return answerItem(reply, 200, updated, item)
    },

    DELETE: async function deleteItem(request, reply) {
      if (!(await store.delete(itemIdOf(request)))) throw itemNotFound(requestedId(request))
      answerEmpty(reply, 204)
    },
  }
}

/** The id in the path as the client wrote it. */
function requestedId({ params }: FastifyRequest): string {
  return (params as { item_id: string }).item_id // the one parameter of the path
}

/** Text that is no UUID is an unknown id like any other. */
function itemIdOf(request: FastifyRequest): ItemId {
  const id = parseItemId(requestedId(request))
  if (id === undefined) throw itemNotFound(requestedId(request))
  return id
}

/** The envelope of spec §2.3 between the session id and the data. */
function envelope(status: string, message: string): string {
  return `","status":"${status}","message":"${message}","data":`
}

/** Answers with one item. The text is Latin-1 to Node: one character for each byte of UTF-8. */
function answerItem(
  reply: FastifyReply,
  status: number,
  middle: string,
  item: EncodedItem,
): Awaitable<void> {
  const before = `${sessionStart}${reply.request.id}${middle}`
  startJson(reply, status, before.length + item.length + 1)
  if (item.length > longItem) {
    return sendChunks(reply.raw, before, { chunks: [item], release: () => undefined }, '}')
  }
  endAnswer(reply.raw, `${before}${item.toString('latin1')}}`)
}

/** Answers with all items. */
function answerList(reply: FastifyReply, list: ItemList): Awaitable<void> {
  const before = `${sessionStart}${reply.request.id}${listed}[`
  startJson(reply, 200, before.length + (list.byteLength ?? 0) + 2)
  if (reply.request.method !== 'HEAD') return sendChunks(reply.raw, before, list, ']}')
  list.release()
  endAnswer(reply.raw)
}
