/** Generates random UUIDs (RFC 9562 §5.4), and UUIDs derived from names (RFC 9562 §5.5). @module */

import { createHash, randomFillSync } from 'node:crypto'

declare const itemId: unique symbol

/** Id of an item: a UUID in lower case, which clients cannot choose (spec §2.1). */
export type ItemId = string & { readonly [itemId]: true }

/** Returns an id for a new item, always the same for the same name. */
export type NewId = (name?: string) => ItemId

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

export function newItemId(): ItemId {
  return newUuid() as ItemId // an `ItemId`, because `newUuid` writes lower case
}

/** Returns a version 5 UUID, which is made with SHA-1 (RFC 9562 §5.5). */
export function namedItemId(namespace: string, name: string): ItemId {
  const space = Buffer.from(namespace.replaceAll('-', ''), 'hex')
  return format(createHash('sha1').update(space).update(name).digest(), 0, 5) as ItemId // `format` writes lower case
}

export function parseItemId(text: string): ItemId | undefined {
  return uuid.test(text) ? (text.toLowerCase() as ItemId) : undefined // a UUID in lower case
}

const pool = Buffer.alloc(256 * 16) // random bytes, because a system call for each UUID is slow
let next = pool.length

const text = Buffer.alloc(36, '-')
const positions = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34]
const digits = Buffer.from('0123456789abcdef')

/** Returns a version 4 UUID as one flat string, which is faster than `randomUUID` (bench/CHOICES.md). */
export function newUuid(): string {
  if (next === pool.length) {
    randomFillSync(pool)
    next = 0
  }
  const uuid = format(pool, next, 4)
  next += 16
  return uuid
}

/** Formats 16 bytes as a UUID, and sets the version and variant bits (RFC 9562 §4). */
function format(bytes: Buffer, start: number, version: number): string {
  bytes[start + 6] = (byteAt(bytes, start + 6) & 0x0f) | (version << 4)
  bytes[start + 8] = (byteAt(bytes, start + 8) & 0x3f) | 0x80 // sets the two bits of the variant (RFC 9562 §4.1)
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
