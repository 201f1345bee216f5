/** Generates random UUIDs (RFC 9562 §5.4), and UUIDs derived from names (RFC 9562 §5.5). @module */

import { createHash, randomUUID } from 'node:crypto'

declare const itemId: unique symbol

/** Id of an item: a UUID in lower case, which clients cannot choose (spec §2.1). */
export type ItemId = string & { readonly [itemId]: true }

/** Returns an id for a new item, always the same for the same name. */
export type NewId = (name?: string) => ItemId

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

export function newItemId(): ItemId {
  return randomUUID() as ItemId // an `ItemId`, because `randomUUID` writes lower case
}

/** Returns a version 5 UUID, which is made with SHA-1 (RFC 9562 §5.5). */
export function namedItemId(namespace: string, name: string): ItemId {
  const space = Buffer.from(namespace.replaceAll('-', ''), 'hex')
  const hash = createHash('sha1').update(space).update(name).digest()
  hash.writeUInt8((hash.readUInt8(6) & 0x0f) | 0x50, 6) // version 5 (RFC 9562 §4.2)
  hash.writeUInt8((hash.readUInt8(8) & 0x3f) | 0x80, 8) // the two bits of the variant (RFC 9562 §4.1)
  const hex = hash.toString('hex')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*/, '$1-$2-$3-$4-$5') as ItemId // a UUID in lower case
}

export function parseItemId(text: string): ItemId | undefined {
  return uuid.test(text) ? (text.toLowerCase() as ItemId) : undefined // a UUID in lower case
}
