/** Item ids: UUIDs made by the service, never taken from the client (spec §2.1). @module */

import type { ItemId } from '../store/item-store.js'
import { newUuid } from '../uuid.js'

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** A new random id, UUID version 4. */
export function newItemId(): ItemId {
  return newUuid() as ItemId // in lower case
}

/** The id that a path names, in any letter case; `undefined` for text that is not a UUID. */
export function parseItemId(text: string): ItemId | undefined {
  if (uuid.test(text)) return text as ItemId // just checked
  const lower = text.toLowerCase()
  return uuid.test(lower) ? (lower as ItemId) : undefined // just checked
}
