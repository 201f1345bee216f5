/** Generates UUIDs for items: random UUIDs (RFC 9562 §5.4), and UUIDs derived from names (RFC 9562 §5.5). @module */

import { createHash, randomFillSync } from 'node:crypto'

declare const itemId: unique symbol

/**
 * The id of an item: a UUID in lower case, never taken from the client (spec §2.1). Only `newItemId`, `namedItemId`
 * and `parseItemId` return this type.
 */
export type ItemId = string & { readonly [itemId]: true }

/** Returns the id of a new item. Equal names give the same id; without a name, each call returns a new id. */
export type NewId = (name?: string) => ItemId

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Returns a new random id: a version 4 UUID. */
export function newItemId(): ItemId {
  return newUuid() as ItemId // an `ItemId`, because `newUuid` writes lower case
}

/** Derives an id from a name and a namespace UUID: a version 5 UUID. Equal arguments always give the same id. */
export function namedItemId(namespace: string, name: string): ItemId {
  const space = Buffer.from(namespace.replaceAll('-', ''), 'hex')
  return format(createHash('sha1').update(space).update(name).digest(), 0, 5) as ItemId // `format` writes lower case
}

/** Parses an id from a path, with letters of either case. Returns `undefined` for text that is not a UUID. */
export function parseItemId(text: string): ItemId | undefined {
  if (uuid.test(text)) return text as ItemId // an `ItemId`, because `text` is a UUID in lower case
  const lower = text.toLowerCase()
  return uuid.test(lower) ? (lower as ItemId) : undefined // an `ItemId`, because `lower` is a UUID in lower case
}

/** Random bytes for 256 UUIDs. A system call for each UUID would take longer than the rest of the work on the UUID. */
const pool = Buffer.alloc(256 * 16)
let next = pool.length

const text = Buffer.alloc(36, '-')
/** For each byte of a UUID, the position of its two digits in the text of 36 characters. */
const positions = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34]
const digits = Buffer.from('0123456789abcdef')

/**
 * Returns a new version 4 UUID, written as one flat string.
 *
 * `randomUUID` from `node:crypto` returns a concatenation of forty strings. V8 flattens the concatenation when the UUID
 * is sent, which takes a tenth of the time of a small request (bench/CHOICES.md).
 */
export function newUuid(): string {
  if (next === pool.length) {
    randomFillSync(pool)
    next = 0
  }
  const uuid = format(pool, next, 4)
  next += 16
  return uuid
}

/** Sets the version and variant of a UUID in the 16 bytes from `start` on, and returns the UUID as lower-case text. */
function format(bytes: Buffer, start: number, version: number): string {
  bytes[start + 6] = (byteAt(bytes, start + 6) & 0x0f) | (version << 4)
  bytes[start + 8] = (byteAt(bytes, start + 8) & 0x3f) | 0x80 // the two bits of the variant (RFC 9562 §4.1)
  let at = start
  for (const position of positions) {
    const byte = byteAt(bytes, at)
    text[position] = byteAt(digits, byte >>> 4)
    text[position + 1] = byteAt(digits, byte & 0x0f)
    at += 1
  }
  return text.toString('latin1')
}

function byteAt(bytes: Buffer, index: number): number {
  return bytes[index] as number // never undefined: callers pass valid indexes
}
