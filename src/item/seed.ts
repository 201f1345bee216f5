/**
 * Items that a store starts with: reads them from a text, verbatim, and stores them.
 *
 * @module
 */

import { isUtf8 } from 'node:buffer'
import type { ItemId, ItemStore } from '../store/item-store.js'
import { newItemId } from './id.js'
import {
  encodeItem,
  InvalidItemError,
  type ItemRequest,
  parseItemRequest,
  positionOf,
} from './item-request.js'
import { JsonSyntaxError, nameOf, scanText, skipComma, skipSpace, skipValue } from './scan.js'

/** The text is not a seed. The message begins with the line and column of the problem, from 1. */
export class InvalidSeedError extends Error {
  override readonly name = 'InvalidSeedError'
}

const lineFeed = 0x0a
const openBracket = 0x5b
const closeBracket = 0x5d
const openBrace = 0x7b
const byteOrderMark = Buffer.from('\ufeff')
const nullText = Buffer.from('null')
const beforeProjectId = Buffer.from('{"project_id":')
const beforeData = Buffer.from(',"data":')
const requestEnd = Buffer.from('}')

/**
 * Reads a seed: a JSON array of objects, or objects with nothing but white space between them, such
 * as one a line.
 *
 * An object whose only members are `data` and, if present, `project_id` is an item request (spec §2.2).
 * Of any other object, the members become those of the item, and its `project_id`, if present, is that
 * of the item. An `id` is dropped: the service generates them. Everything else is kept verbatim.
 * @param file JSON text in UTF-8; a byte order mark is ignored.
 * @throws {InvalidSeedError}
 */
export function parseSeed(file: Buffer): ItemRequest[] {
  const isMarked = file.subarray(0, byteOrderMark.length).equals(byteOrderMark)
  const text = isMarked ? file.subarray(byteOrderMark.length) : file
  const requests: ItemRequest[] = []
  let start = 0
  try {
    if (!isUtf8(text)) throw new JsonSyntaxError('not valid UTF-8', invalidByte(text))
    for (const object of objectsIn(text)) {
      start = object.start
      requests.push(parseItemRequest(asRequest(text.subarray(start, object.end))))
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
 * @throws {StoreError} of the store, if it does not take all of them; none is kept then.
 */
export async function storeItems(
  store: ItemStore,
  items: readonly ItemRequest[],
): Promise<ItemId[]> {
  const ids: ItemId[] = []
  try {
    for (const item of items) {
      const id = newItemId()
      await store.create(id, encodeItem(id, item))
      ids.push(id)
    }
    return ids
  } catch (error) {
    await Promise.allSettled(ids.map(async (id) => await store.delete(id)))
    throw error
  }
}

interface Span {
  readonly start: number
  readonly end: number
}

/** Where the objects of a seed lie. @throws {JsonSyntaxError} */
function objectsIn(text: Buffer): Iterable<Span> {
  const start = skipSpace(text, 0)
  return text[start] === openBracket ? elementsOf(text, start) : objectsFrom(text, start)
}

function* objectsFrom(text: Buffer, start: number): Iterable<Span> {
  let at = start
  do {
    const end = skipObject(text, at)
    yield { start: at, end }
    at = skipSpace(text, end)
  } while (at < text.length)
}

function* elementsOf(text: Buffer, start: number): Iterable<Span> {
  let at = skipSpace(text, start + 1)
  while (text[at] !== closeBracket) {
    const end = skipObject(text, at)
    yield { start: at, end }
    at = skipSpace(text, end)
    if (text[at] === closeBracket) break
    at = skipComma(text, at, closeBracket)
    if (text[at] === closeBracket) throw new JsonSyntaxError('expected an object', at)
  }
  const rest = skipSpace(text, at + 1)
  if (rest < text.length) throw new JsonSyntaxError('unexpected text after the array', rest)
}

function skipObject(text: Buffer, start: number): number {
  if (text[start] !== openBrace) throw new JsonSyntaxError('expected an object', start)
  return skipValue(text, start)
}

/** An object as an item request: as it is if it is one, otherwise in the place of `data`. */
function asRequest(object: Buffer): Buffer {
  const members = new Map<string, Buffer>()
  scanText(object, 1, ({ nameStart, nameEnd, valueStart, valueEnd }) => {
    members.set(nameOf(object, nameStart, nameEnd), object.subarray(valueStart, valueEnd))
  })
  const projectId = members.get('project_id')
  const isRequest = members.has('data') && members.size === (projectId === undefined ? 1 : 2)
  if (isRequest) return object
  return Buffer.concat([beforeProjectId, projectId ?? nullText, beforeData, object, requestEnd])
}

/** Position of the first byte that is not UTF-8: there, decoding and encoding does not give it back. */
function invalidByte(text: Buffer): number {
  const lineAt = (start: number) =>
    text.subarray(start, text.indexOf(lineFeed, start) + 1 || undefined)
  let start = 0
  let line = lineAt(start)
  while (isUtf8(line)) {
    start += line.length
    line = lineAt(start)
  }
  const decoded = Buffer.from(line.toString())
  return start + decoded.findIndex((byte, at) => byte !== line[at])
}

function invalid(text: Buffer, offset: number, problem: string): InvalidSeedError {
  return new InvalidSeedError(`${positionOf(text, offset)}: ${problem}`)
}
