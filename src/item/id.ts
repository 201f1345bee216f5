/** Item ids: UUIDs made by the service, never taken from the client (spec §2.1). @module */

import { randomUUID } from 'node:crypto'
import type { ItemId } from '../store/item-store.js'

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** A new random id, UUID version 4 (RFC 9562 §5.4). */
export function newItemId(): ItemId {
  return randomUUID() as ItemId // randomUUID gives lower case
}

/** The id that a path names, in any letter case; `undefined` for text that is not a UUID. */
export function parseItemId(text: string): ItemId | undefined {
  const lower = text.toLowerCase()
  return uuid.test(lower) ? (lower as ItemId) : undefined // just checked
}
