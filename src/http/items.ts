/** The item endpoints (spec §4.2 to §4.6). @module */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { newItemId, parseItemId } from '../item/id.js'
import { encodeItem, parseItemRequest } from '../item/item-request.js'
import type { Awaitable, EncodedItem, ItemId, ItemList, ItemStore } from '../store/item-store.js'
import { answerEmpty, startJson } from './answer.js'
import { readBody } from './body.js'
import { itemNotFound } from './errors.js'
import type { Handlers } from './routes.js'
import { sendList } from './send-list.js'

const retrieved = envelope('success', 'Item retrieved successfully')
const listed = envelope('success', 'Items retrieved successfully')
const created = envelope('created', 'Item created successfully')
const updated = envelope('updated', 'Item updated successfully')
const sessionStart = '{"session_id":"'

/** Handlers of `/items`. @param maxBodyBytes longest body to take. */
export function collectionHandlers(store: ItemStore, maxBodyBytes: number): Handlers {
  return {
    GET: function listItems(_request, reply) {
      return then(store.list(), (list) => answerList(reply, list))
    },

    POST: async function createItem(request, reply) {
      const itemRequest = parseItemRequest(await readBody(request.raw, maxBodyBytes))
      const id = newItemId()
      const item = encodeItem(id, itemRequest)
      await store.create(id, item)
      answerItem(reply, 201, created, item)
    },
  }
}

/** Handlers of `/items/{item_id}`. @param maxBodyBytes longest body to take. */
export function itemHandlers(store: ItemStore, maxBodyBytes: number): Handlers {
  return {
    GET: function readItem(request, reply) {
      return then(store.read(itemIdOf(request)), (item) => {
        if (item === undefined) throw itemNotFound(requestedId(request))
        answerItem(reply, 200, retrieved, item)
      })
    },

    PUT: async function replaceItem(request, reply) {
      const itemRequest = parseItemRequest(await readBody(request.raw, maxBodyBytes))
      const id = itemIdOf(request)
      const item = encodeItem(id, itemRequest)
      if (!(await store.replace(id, item))) throw itemNotFound(requestedId(request))
      answerItem(reply, 200, updated, item)
    },

    DELETE: function deleteItem(request, reply) {
      return then(store.delete(itemIdOf(request)), (deleted) => {
        if (!deleted) throw itemNotFound(requestedId(request))
        answerEmpty(reply, 204)
      })
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
function answerItem(reply: FastifyReply, status: number, middle: string, item: EncodedItem): void {
  const text = `${sessionStart}${reply.request.id}${middle}${item.toString('latin1')}}`
  startJson(reply, status, text.length)
  reply.raw.end(text, 'latin1')
}

/** Answers with all items. */
function answerList(reply: FastifyReply, list: ItemList): Awaitable<void> {
  const before = `${sessionStart}${reply.request.id}${listed}[`
  startJson(reply, 200, before.length + list.byteLength + 2)
  if (reply.request.method !== 'HEAD') return sendList(reply.raw, before, list, ']}')
  list.release()
  reply.raw.end()
}

/** Goes on with a value, at once if it is there: a promise costs a tenth of the throughput. */
function then<T>(value: Awaitable<T>, next: (value: T) => Awaitable<void>): Awaitable<void> {
  return value instanceof Promise ? value.then(next) : next(value)
}
