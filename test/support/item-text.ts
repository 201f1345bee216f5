/** Parses item requests and writes items in one go, without the service's pauses. */

import type { ItemId } from '../../src/item/id.js'
import { type EncodedItem, encodedItem } from '../../src/item/item.js'
import { type ItemRequest, readItemRequest } from '../../src/item/item-request.js'
import { runToEnd } from '../../src/item/slices.js'

/** Parses a complete request body, and may modify the body's bytes. @throws {InvalidItemError} (spec §2.2). */
export function parseItemRequest(bytes: Buffer): ItemRequest {
  const { length } = bytes
  return runToEnd(readItemRequest({ bytes, length, isComplete: true, accountFor: () => undefined }))
}

export function encodeItem(id: ItemId, request: ItemRequest): EncodedItem {
  return runToEnd(encodedItem(id, request))
}
