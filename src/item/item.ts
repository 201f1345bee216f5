/** Writes the JSON text of an item, and reads the project in it. @module */

import { mapped, mappedFrom } from '../memory/mapped.js'
import type { ItemId } from './id.js'
import type { ItemRequest } from './item-request.js'
import { backslash, closeBrace, comma, quote } from './json-syntax.js'
import { copied, type Slices } from './slices.js'

declare const encoded: unique symbol

/** JSON text of an item in UTF-8, as `encodedItem` writes it. */
export type EncodedItem = Buffer & { readonly [encoded]: true }

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
  return item as EncodedItem // has the form of one
}

const idAt = '{"id":"'.length

/** Returns a text from a store if it begins and ends like the item with this id; otherwise `undefined`. */
export function storedItem(id: string, text: Buffer): EncodedItem | undefined {
  const start = `{"id":"${id}"`
  const isItem =
    start.length === labelAt + 1 &&
    text.length > start.length &&
    text.toString('latin1', 0, start.length) === start &&
    text[text.length - 1] === closeBrace
  return isItem ? (text as EncodedItem) : undefined // just checked
}

/** True if the item whose text begins at `start` has this id. */
export function hasId(bytes: Buffer, start: number, id: ItemId): boolean {
  const from = start + idAt
  for (let place = 0; place < id.length; place += 1) {
    if (bytes[from + place] !== id.charCodeAt(place)) return false
  }
  return true
}

const label = Buffer.from('","project_id":')
/** Length of an item's text up to `label`, which ends its id and names the project. */
export const labelAt = '{"id":"00000000-0000-0000-0000-000000000000'.length
/** Length of an item's text up to the project: a quote or `null`. */
export const projectAt = labelAt + label.length
const maxProjectText = 6 * 16 * 1024 // in bytes: 16 KiB of characters, escaped with six bytes each

/** Returns the project of the item whose text begins at `start`; `undefined` if it's null. */
export function projectOf(bytes: Buffer, start = 0): string | undefined {
  const from = start + projectAt + 1
  if (bytes[from - 1] !== quote || !isLabelled(bytes, start)) return undefined
  const limit = Math.min(from + maxProjectText, bytes.length)
  let end = from
  while (end < limit && bytes[end] !== quote) end += bytes[end] === backslash ? 2 : 1
  if (end >= limit) return undefined
  const project = bytes.toString('utf8', from, end)
  return project.includes('\\') ? (JSON.parse(`"${project}"`) as string) : project // the text is a valid JSON string
}

export type ItemFilter = (bytes: Buffer, start: number) => boolean

/** Returns a filter for the items of a project. It rejects most others after a few bytes. */
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
