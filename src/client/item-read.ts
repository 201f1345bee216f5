/** Items as they are read, with their entity tags (interface §4.9). @module */

import type { TextResponse } from './fetch-text.js'
import { invalidResponse, wrong } from './item-store-error.js'
import { allTexts } from './item-texts.js'
import type { MatchOptions } from './options.js'

/** What a response has of an item. */
export interface ItemRead {
  readonly head: Response
  readonly text: string
  /** Items of a list have none. */
  readonly tag?: string | undefined
}

/** The one item in a response. @throws {ItemStoreError} `INVALID_RESPONSE`. */
export async function itemRead(response: TextResponse): Promise<ItemRead> {
  const { head } = response
  const [text] = await allTexts(response, 1)
  if (!text) throw invalidResponse(head)
  // A proxy that compresses weakens the tag, with which no condition is met; the text is the same.
  return { head, text, tag: head.headers.get('etag')?.replace(/^W\//, '') }
}

/** Tags are kept beside the items: a member would be stored with them. */
const tags = new WeakMap<object, string>()

/** Lets `tagOf` find the tag. A codec may make something else than objects, and objects without a prototype. */
export function keepTag(item: unknown, tag: string | undefined): void {
  if (tag && item === Object(item)) tags.set(item as object, tag) // as was just checked
}

/**
 * The entity tag of an item that `create`, `get`, `replace`, `update` or `watch` gave: of this object, not of a copy.
 * @throws {TypeError} when it has none, as those of a list.
 */
export function tagOf(item: object): string {
  const tag = tags.get(item)
  if (tag === undefined) throw wrong('the item has no tag: it is a copy, or from a list')
  return tag
}

/** The headers of a change with a condition. @throws {TypeError} for an item without a tag. */
export function ifMatchHeaders({ ifMatch }: MatchOptions = {}): Record<string, string> {
  if (ifMatch === undefined) return {}
  return { 'if-match': typeof ifMatch === 'string' ? ifMatch : tagOf(ifMatch) }
}
