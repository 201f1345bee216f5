/** Items that a store starts with: reads them from a file, verbatim, and stores them. @module */

import { isUtf8 } from 'node:buffer'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ItemId, ItemStore } from '../store/item-store.js'
import { newItemId } from './id.js'
import { encodeItem, InvalidItemError, type ItemRequest, parseItemRequest } from './item-request.js'
import { JsonSyntaxError } from './json-syntax.js'
import { positionOf } from './scan.js'
import { type Span, seedObjects, withoutMark } from './seed-objects.js'
import { firstInvalid } from './utf8.js'

/** The file is not a valid seed. The message begins with line and column of the problem, counted from 1. */
export class InvalidSeedError extends Error {
  override readonly name = 'InvalidSeedError'
}

/** Items stored or deleted in one turn of the event loop: about a millisecond. */
const itemsPerTurn = 256

const lineFeed = 0x0a
const nullText = Buffer.from('null')
const beforeProjectId = Buffer.from('{"project_id":')
const beforeData = Buffer.from(',"data":')
const requestEnd = Buffer.from('}')

/**
 * Reads each object in a seed file as an item request. An `id` is dropped, since the service generates ids;
 * everything else is kept verbatim.
 * @param file JSON text in UTF-8; a byte order mark is ignored.
 * @throws {InvalidSeedError}
 */
export function parseSeed(file: Buffer): ItemRequest[] {
  const text = withoutMark(file)
  const requests: ItemRequest[] = []
  let start = 0
  try {
    if (!isUtf8(text)) throw new JsonSyntaxError('not valid UTF-8', invalidByte(text))
    for (const { start: objectStart, data, projectId } of seedObjects(text)) {
      start = objectStart
      requests.push(parseItemRequest(requestOf(text, data, projectId)))
    }
    return requests
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw invalid(text, error.offset, error.message)
    if (error instanceof InvalidItemError) throw invalid(text, start, error.message)
    throw error
  }
}

/**
 * Stores new items, each with an id of its own.
 * @returns the ids.
 * @throws {StoreError} if the store does not take all of them; then none is kept.
 */
export async function storeItems(
  store: ItemStore,
  items: readonly ItemRequest[],
  newId: () => ItemId = newItemId,
): Promise<ItemId[]> {
  const ids: ItemId[] = []
  try {
    for (const item of items) {
      let id = newId()
      while (!(await store.create(id, encodeItem(id, item)))) id = newId()
      ids.push(id)
      if (ids.length % itemsPerTurn === 0) await nextTurn()
    }
    return ids
  } catch (error) {
    while (ids.length > 0) {
      const stored = ids.splice(-itemsPerTurn)
      await Promise.allSettled(stored.map(async (id) => await store.delete(id)))
      await nextTurn()
    }
    throw error
  }
}

/** The body of the request that creates an item. */
function requestOf(text: Uint8Array, data: Span, projectId: Span | undefined): Buffer {
  const project = projectId ? text.subarray(projectId.start, projectId.end) : nullText
  const dataText = text.subarray(data.start, data.end)
  return Buffer.concat([beforeProjectId, project, beforeData, dataText, requestEnd])
}

/** Position of the first byte that is not UTF-8: the first that decoding and encoding changes. */
function invalidByte(text: Uint8Array): number {
  const lineAt = (start: number) =>
    text.subarray(start, text.indexOf(lineFeed, start) + 1 || undefined)
  let start = 0
  let line = lineAt(start)
  while (isUtf8(line)) {
    start += line.length
    line = lineAt(start)
  }
  return start + firstInvalid(line)
}

function invalid(text: Uint8Array, offset: number, problem: string): InvalidSeedError {
  return new InvalidSeedError(`${positionOf(text, offset)}: ${problem}`)
}
