/** Reads a store's initial items from a file or a program, and stores them. @module */

import { messageOf, UsageError } from '../config/usage-error.js'
import { runInTurns, untilWorkMayRun } from '../http/pacing.js'
import { type ItemId, newItemId } from '../item/id.js'
import { encodedItem } from '../item/item.js'
import {
  InvalidItemError,
  type ItemRequest,
  placeIn,
  readItemRequest,
} from '../item/item-request.js'
import { JsonSyntaxError, type Span } from '../item/json-syntax.js'
import { seedObjects, withoutMark } from '../item/seed-objects.js'
import { copied, runToEnd, type Slices } from '../item/slices.js'
import { type ItemStore, StoreError } from '../store/item-store.js'

const deletedPerTurn = 256

/**
 * Parses a seed: a JSON array of objects, or objects separated by white space. Ignores a byte order mark and the `id`
 * of items. With `maxItems`, errors have the item's index too. @throws {UsageError} with line and column.
 */
export function* readSeed(file: Buffer, maxItems?: number): Slices<ItemRequest[]> {
  const text = file.subarray(file.length - withoutMark(file).length)
  const requests: ItemRequest[] = []
  let start = 0
  try {
    for (const object of seedObjects(text)) {
      yield
      if (object === undefined) continue
      start = object.start
      if (requests.length === maxItems) throw new InvalidItemError(`more than ${maxItems} items`)
      const bytes = yield* requestBodyOf(text, object.data, object.projectId)
      const body = { bytes, length: bytes.length, isComplete: true, accountFor: () => undefined }
      requests.push(yield* readItemRequest(body))
    }
    return requests
  } catch (error) {
    if (!(error instanceof JsonSyntaxError || error instanceof InvalidItemError)) throw error
    const offset = error instanceof JsonSyntaxError ? error.offset : start
    const item = maxItems === undefined ? '' : `item ${requests.length}, `
    throw new UsageError(`${item}${yield* placeIn(text, offset)}: ${error.message}`)
  }
}

/** Reads a whole seed without a pause. @throws {UsageError} */
export function parseSeed(file: Buffer): ItemRequest[] {
  return runToEnd(readSeed(file))
}

/** Parses items from a program. `textOf` gives the JSON text of each. @throws {UsageError} with the item's index. */
export async function requestsFrom<T>(
  given: readonly T[],
  textOf: (each: T) => unknown,
): Promise<ItemRequest[]> {
  if (!Array.isArray(given)) throw new UsageError('the seed is not an array')
  const requests: ItemRequest[] = []
  for (const [index, each] of given.entries()) {
    try {
      const text = textOf(each)
      if (typeof text !== 'string' || !/^\s*\{/.test(text)) throw new Error('it is not an object')
      if (/\p{Surrogate}/u.test(text))
        throw new Error('it has a lone surrogate; JSON can escape it')
      const [request, second] = await runInTurns(readSeed(Buffer.from(text)))
      if (request === undefined || second !== undefined) throw new Error('it is not one object')
      requests.push(request)
    } catch (error) {
      throw new UsageError(`item ${index} of the seed: ${messageOf(error)}`, { cause: error })
    }
  }
  return requests
}

/** Stores items if the store is empty; otherwise returns `false`. @throws {UsageError} */
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
 * Stores either all items or none, and returns their new ids.
 * @param isCurrent returns `false` once the store has been reset. @throws {StoreError}
 */
export async function storeItems(
  store: ItemStore,
  items: readonly ItemRequest[],
  newId: () => ItemId = newItemId,
  isCurrent = () => true,
): Promise<ItemId[]> {
  const ids: ItemId[] = []
  const requireCurrent = () => {
    const problem = 'The store was reset before all items were stored'
    if (!isCurrent()) throw new StoreError('STORE_UNAVAILABLE', problem)
  }
  try {
    for (const item of items) {
      for (let isStored = false; !isStored; ) {
        requireCurrent()
        const id = newId()
        const encoded = await runInTurns(encodedItem(id, item))
        requireCurrent()
        isStored = await store.create(id, encoded)
        if (isStored) ids.push(id)
      }
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

function* requestBodyOf(text: Buffer, data: Span, projectId: Span | undefined): Slices<Buffer> {
  const parts = [Buffer.from('{"data":'), text.subarray(data.start, data.end)]
  if (projectId !== undefined)
    parts.push(Buffer.from(',"project_id":'), text.subarray(projectId.start, projectId.end))
  parts.push(Buffer.from('}'))
  const body = Buffer.allocUnsafe(parts.reduce((sum, { length }) => sum + length, 0))
  let end = 0
  for (const part of parts) end = yield* copied(part, body, end)
  return body
}
