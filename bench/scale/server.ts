/** Serves a store with bare `node:http`. The parent process fills and changes the store. */

import { hash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ItemId } from '../../src/item/id.js'
import type { EncodedItem } from '../../src/item/item.js'
import { startCollection } from '../../src/memory/collection.js'
import type { ItemList } from '../../src/store/item-store.js'
import { createMemoryStore } from '../../src/store/memory/store.js'
import { anyId, itemBytes, itemText } from '../lib/item.js'
import { fail } from '../lib/options.js'
import { createMapStore } from './map-store.js'

export type Side = 'blocks' | 'map'
export type Actions = typeof actions

const operationsInTurn = 16 // per turn of the event loop, as if 16 connections sent requests
const batch = 1024 * 1024 // bytes of a list per turn of the event loop, as in the service
const keptItems = 1000 // unchanged in the churn phase, because the probe reads them
const churnBytes = { minimum: itemBytes - 50, maximum: itemBytes + 50 }
/** Text of the longest item. Its first `itemBytes` bytes are a complete item. */
const longestText = Buffer.alloc(churnBytes.maximum, itemText(anyId))

const [side, port, items] = process.argv.slice(2)
const store = side === 'map' ? createMapStore() : createMemoryStore(Number.MAX_SAFE_INTEGER)
const collectGarbage = globalThis.gc ?? fail('the server takes --expose-gc')
const numbers = new Uint32Array(Number(items)).fill(1) // outside the heap, to affect both stores equally
let filled = 0
let created = 0

startCollection(Number.POSITIVE_INFINITY, () => 0) // the service collects garbage in the same way

createServer(async ({ url = '/' }, response) => {
  const id = url.slice(1)
  if (id === '') {
    const list = await store.list()
    response.writeHead(200, { 'Content-Length': list.byteLength })
    await sendChunks(list.chunks, response)
    list.release()
  } else {
    const item = await store.read(id as ItemId) // the action `ids` has returned this id
    response.writeHead(item === undefined ? 404 : 200, { 'Content-Length': item?.length ?? 0 })
    response.end(item)
  }
}).listen(Number(port), '127.0.0.1')

/** Actions that measure.ts requests. All except `ids` and `memory` return processor time per item, in microseconds. */
const actions = {
  fill: (count: number) =>
    inTurns(
      count - filled,
      () => {
        numbers[filled] = created
        filled += 1
        return newItem(itemBytes)
      },
      ({ id, text }) => store.create(id, text),
    ),

  churn: (count: number) =>
    inTurns(
      count,
      () => {
        const place = keptItems + below(filled - keptItems)
        const id = idAt(place)
        const bytes = churnBytes.minimum + below(churnBytes.maximum - churnBytes.minimum + 1)
        if (below(2) === 0) return { old: id, id, text: textOf(id, bytes) }
        numbers[place] = created
        return { old: id, ...newItem(bytes) }
      },
      ({ old, id, text }) => {
        if (old === id) return store.replace(id, text)
        store.delete(old)
        store.create(id, text)
      },
    ),

  read: (count: number) =>
    inTurns(
      count,
      () => idAt(below(filled)),
      (id) => store.read(id),
    ),

  empty: () =>
    inTurns(
      filled,
      () => {
        filled -= 1
        return idAt(filled)
      },
      (id) => store.delete(id),
    ),

  ids: () => Array.from(numbers.subarray(0, Math.min(keptItems, filled)), idOf),

  async memory() {
    for (let time = 0; time < 3; time += 1) {
      collectGarbage()
      await nextTurn()
    }
    return process.memoryUsage.rss()
  },
}
process.on('message', async (message) => {
  const { action, count } = message as { action: keyof Actions; count: number } // sent by measure.ts
  process.send?.({ value: await actions[action](count) })
})

async function sendChunks(chunks: ItemList['chunks'], response: ServerResponse) {
  let written = 0
  for await (const chunk of chunks) {
    response.write(chunk)
    written += chunk.length
    if (written < batch) continue
    written = 0
    if (response.writableNeedDrain) await once(response, 'drain')
    await nextTurn()
  }
  response.end()
}

function newItem(bytes: number) {
  created += 1
  const id = idOf(created - 1)
  return { id, text: textOf(id, bytes) }
}

function below(limit: number) {
  return Math.floor(Math.random() * limit)
}

/** Returns an item's text in a new buffer, as if it came from a request. */
function textOf(id: ItemId, bytes: number) {
  const text = Buffer.from(longestText.subarray(0, bytes))
  text.write(id, '{"id":"'.length)
  return text as EncodedItem // stores read no more than its id and project
}

function idAt(place: number) {
  return idOf(numbers[place] ?? Number.NaN)
}

/** Returns the id for a number. Distributed like random ids, but need not be kept in memory. */
function idOf(number: number) {
  const text = hash('md5', String(number)).replace(/(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
  const id = Buffer.from(text, 'latin1').toString('latin1') // makes a flat string, because V8 would keep a tree of substrings
  return id as ItemId // in the format of a UUID
}

/** Returns the processor time per call in microseconds, excluding `makeInput`. */
async function inTurns<T>(count: number, makeInput: () => T, act: (input: T) => unknown) {
  let used = 0
  for (let done = 0; done < count; done += operationsInTurn) {
    const inputs = Array.from({ length: Math.min(operationsInTurn, count - done) }, makeInput)
    const before = process.cpuUsage()
    for (const input of inputs) act(input)
    const { user, system } = process.cpuUsage(before)
    used += user + system
    await nextTurn()
  }
  return used / count
}
