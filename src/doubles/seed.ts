/** Reads a store's initial items from a file or a program, and stores them. @module */

import { isUtf8 } from 'node:buffer'
import { messageOf, UsageError } from '../config/usage-error.js'
import { untilWorkMayRun } from '../http/pacing.js'
import { type ItemId, newItemId } from '../item/id.js'
import { encodeItem } from '../item/item.js'
import type { ItemRequest } from '../item/item-request.js'
import { firstInvalid, InvalidItemError, parseItemRequest } from '../item/item-request.js'
import { JsonSyntaxError, type Span } from '../item/json-syntax.js'
import { positionOf } from '../item/scan.js'
import { seedObjects, withoutMark } from '../item/seed-objects.js'
import { type ItemStore, StoreError } from '../store/item-store.js'

const deletedPerTurn = 256

const nullText = Buffer.from('null')
const beforeProjectId = Buffer.from('{"project_id":')
const beforeData = Buffer.from(',"data":')
const requestEnd = Buffer.from('}')

/** Parses a seed file. Ignores a byte order mark, and the `id` of items. @throws {UsageError} with line and column. */
export function parseSeed(file: Buffer): ItemRequest[] {
  const text = withoutMark(file)
  const requests: ItemRequest[] = []
  let start = 0
  try {
    if (!isUtf8(text)) throw new JsonSyntaxError('not valid UTF-8', firstInvalid(text))
    for (const { start: objectStart, data, projectId } of seedObjects(text)) {
      start = objectStart
      requests.push(parseItemRequest(requestBodyOf(text, data, projectId)))
    }
    return requests
  } catch (error) {
    if (!(error instanceof JsonSyntaxError || error instanceof InvalidItemError)) throw error
    const position = positionOf(text, error instanceof JsonSyntaxError ? error.offset : start)
    throw new UsageError(`${position}: ${error.message}`)
  }
}

export function* requestsFrom<T>(
  given: readonly T[],
  textOf: (each: T) => unknown,
): Generator<ItemRequest, void> {
  if (!Array.isArray(given)) throw new UsageError('the seed is not an array')
  for (const [index, each] of given.entries()) {
    try {
      const text = textOf(each)
      if (typeof text !== 'string' || !/^\s*\{/.test(text)) throw new Error('it is not an object')
      if (/\p{Surrogate}/u.test(text))
        throw new Error('it has a lone surrogate; JSON can escape it')
      const [request, second] = parseSeed(Buffer.from(text))
      if (request === undefined || second !== undefined) throw new Error('it is not one object')
      yield request
    } catch (error) {
      throw new UsageError(`item ${index} of the seed: ${messageOf(error)}`, { cause: error })
    }
  }
}

/** Stores items if the store is empty. Returns `false` if the store already has items. @throws {UsageError} */
export async function seedEmptyStore(
  store: ItemStore,
  items: readonly ItemRequest[],
): Promise<boolean> {
  if (items.length === 0) return true
  try {
    if ((await store.size()).items > 0) return false
    await storeItems(store, items)
    return true
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    throw new UsageError(`the seed cannot be stored completely: ${error.message}`)
  }
}

/**
 * Reads all items, then stores either all of them or none. Returns their new ids.
 * @param isCurrent returns `false` once the store has been reset. @throws {StoreError}
 */
export async function storeItems(
  store: ItemStore,
  items: Iterable<ItemRequest>,
  newId: () => ItemId = newItemId,
  isCurrent = () => true,
): Promise<ItemId[]> {
  const ids: ItemId[] = []
  const all: ItemRequest[] = []
  for (const item of items) {
    await untilWorkMayRun()
    all.push(item)
  }
  try {
    for (const item of all) {
      await untilWorkMayRun()
      if (!isCurrent()) throw new Error('the store was reset before all items were stored')
      let id = newId()
      while (!(await store.create(id, encodeItem(id, item)))) id = newId()
      ids.push(id)
    }
    return ids
  } catch (error) {
    while (isCurrent() && ids.length > 0) {
      const stored = ids.splice(-deletedPerTurn)
      await Promise.allSettled(stored.map(async (id) => await store.delete(id)))
      await untilWorkMayRun()
    }
    throw error
  }
}

function requestBodyOf(text: Uint8Array, data: Span, projectId: Span | undefined): Buffer {
  const project = projectId ? text.subarray(projectId.start, projectId.end) : nullText
  const dataText = text.subarray(data.start, data.end)
  return Buffer.concat([beforeProjectId, project, beforeData, dataText, requestEnd])
}
