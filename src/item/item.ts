/** Items as they are stored and sent: their JSON text, and the project that stands in it. @module */

import { mapped, mappedFrom } from '../memory/mapped.js'
import type { ItemId } from './id.js'
import type { ItemRequest } from './item-request.js'
import { backslash, closeBrace, comma, quote } from './json-syntax.js'
import { nameOf } from './names.js'
import { atOnce, copied, type Slices } from './slices.js'

declare const encoded: unique symbol

/** One item as JSON text in UTF-8, `id` and `project_id` included. Made by `encodeItem`. */
export type EncodedItem = Buffer & { readonly [encoded]: true }

/**
 * The item as it is stored and sent: `id`, `project_id`, then the members of `data` in the order in which
 * they were sent (spec §2.1).
 */
export function encodeItem(id: ItemId, request: ItemRequest): EncodedItem {
  return atOnce(encodedItem(id, request))
}

/** The same, in slices. */
export function* encodedItem(id: ItemId, { projectId, members }: ItemRequest): Slices<EncodedItem> {
  const head = `{"id":"${id}","project_id":`
  const separator = members.length > 0 ? 1 : 0
  const length = head.length + projectId.length + separator + members.length + 1

  const item = length < mappedFrom ? Buffer.allocUnsafe(length) : mapped(length)
  let at = item.write(head, 'latin1')
  at = length < mappedFrom ? at + projectId.copy(item, at) : yield* copied(projectId, item, at)
  item[at] = comma
  if (length < mappedFrom) members.copy(item, at + separator)
  else yield* copied(members, item, at + separator)
  item[length - 1] = closeBrace
  return item as EncodedItem // the only place that makes them
}

/** What stands between the id and the project, in the text of every item (`encodeItem`). */
const label = Buffer.from('","project_id":')
const labelAt = '{"id":"00000000-0000-0000-0000-000000000000'.length
const projectAt = labelAt + label.length

/**
 * Longest JSON text of a project that is looked at, in bytes. Nobody can ask for a longer one: a request head has
 * 16 KiB, and a byte of it may be an escape of six bytes in the text.
 */
const longest = 6 * 16 * 1024

/**
 * Returns the project of an item with its escapes resolved; `undefined` for an item without one.
 * @param bytes the memory that the item is in.
 * @param start where the item starts in it.
 */
export function projectOf(bytes: Buffer, start = 0): string | undefined {
  const from = start + projectAt + 1
  if (bytes[from - 1] !== quote || !isLabelled(bytes, start)) return undefined
  const limit = Math.min(from + longest, bytes.length)
  let end = from
  while (end < limit && bytes[end] !== quote) end += bytes[end] === backslash ? 2 : 1
  if (end >= limit) return undefined
  return nameOf(bytes, from, end)
}

/** Whether an item is wanted. @param start where the item starts in the memory that it is in. */
export type ItemFilter = (bytes: Buffer, start: number) => boolean

/** Returns a filter for the items of a project. Almost all others are recognized by a few bytes. */
export function projectFilter(project: string): ItemFilter {
  const wanted = Buffer.from(project)
  return (bytes, start) => {
    const from = start + projectAt + 1
    if (bytes[from - 1] !== quote) return false
    for (let place = 0; place < wanted.length; place += 1) {
      const byte = bytes[from + place]
      if (byte === backslash) return projectOf(bytes, start) === project
      if (byte === quote || byte !== wanted[place]) return false
    }
    return bytes[from + wanted.length] === quote && isLabelled(bytes, start)
  }
}

function isLabelled(bytes: Buffer, start: number): boolean {
  const from = start + labelAt
  for (let place = 0; place < label.length; place += 1) {
    if (bytes[from + place] !== label[place]) return false
  }
  return true
}
