/** Extracts the texts of items from a response as it arrives, without parsing them. Also stores entity tags. @module */

import { invalidResponse, membersIn, wrong } from './item-store-error.js'
import { JsonScanner } from './json-scanner.js'

/** Matches the `id` of an item. Every item has one (spec §2.1), and the service writes it first. */
const id = /"id"\s*:\s*"/

/** Number of objects and arrays that enclose an item: the envelope and, in a list, the array. */
type Nesting = 1 | 2

/** Matches the text before the opening bracket of `data`. Only the last `labelLength` characters are searched. */
const label = /[{,]\s*"data"\s*:\s*$/
const labelLength = 100

/** An item as read from a response. */
export interface ItemRead {
  readonly head: Response
  readonly text: string
  /** Entity tag of the item; `undefined` for items of a list. */
  readonly tag?: string | undefined
}

/** A response of the service. Call only one method, and only once, because each method reads the body. */
export class TextResponse {
  readonly head: Response
  /** The body as it arrives. Leaving the loop early closes the connection. */
  readonly parts: AsyncGenerator<string, void, void>

  constructor(head: Response, parts: AsyncGenerator<string, void, void>) {
    this.head = head
    this.parts = parts
  }

  /** Returns the whole body. */
  async text(): Promise<string> {
    let text = ''
    for await (const part of this.parts) text += part
    return text
  }

  /**
   * Yields the texts of the items in batches. After each part of the body, yields the texts that end in this part. Item
   * texts are not parsed, because the service has checked them. The envelope is parsed at the end, because it may come
   * from another server. Takes linear time: each part is scanned once, and each item text is searched once.
   * @throws {ItemStoreError} `INVALID_RESPONSE` if an item has no id; at the end, if the response was cut off or is not
   * an envelope of items.
   */
  async *texts(nesting: Nesting = 2): AsyncGenerator<string[], void, void> {
    const scanner = new JsonScanner()
    let isInData = false
    /** The last characters before the current part. */
    let tail = ''
    /** The beginning of the current item, as received in earlier parts; `undefined` between items. */
    let item: string | undefined
    /** The envelope, with an empty object in place of each item or of several adjacent items. */
    let envelope = ''
    for await (const part of this.parts) {
      const texts: string[] = []
      /** Position in this part where the current item, or the text between items, continues. */
      let from = 0
      for (let sign = scanner.next(part); sign; sign = scanner.next(part)) {
        const { at, depth } = scanner
        if (depth === 2 && '{['.includes(sign)) {
          const before = part.slice(Math.max(from, at - labelLength), at)
          isInData = sign === '{['[nesting - 1] && label.test(tail + before)
        }
        if (isInData && sign === '{' && depth === nesting + 1) {
          const between = part.slice(from, at)
          // An item that directly follows another item in the same part adds no further object to the envelope.
          if (!from || between.trim() !== ',') envelope += `${between}{}`
          item = ''
          from = at
        } else if (item !== undefined && sign === '}' && depth === nesting) {
          const text = item + part.slice(from, at + 1)
          if (!id.test(text)) throw invalidResponse(this.head)
          texts.push(text)
          item = undefined
          from = at + 1
        }
      }
      tail = (tail + part.slice(from)).slice(-labelLength)
      if (item === undefined) envelope += part.slice(from)
      else item += part.slice(from)
      yield texts
    }
    const { data } = membersIn(envelope)
    const all = nesting === 1 ? [data] : data
    // Returns whether a value is an empty object. `JSON.stringify` would fail for deeply nested arrays.
    const isItem = (each?: object | null) =>
      each?.constructor === Object && !Object.keys(each).length
    if (!Array.isArray(all) || !all.every(isItem)) throw invalidResponse(this.head)
  }

  /** Returns the texts of all items. */
  async all(nesting: Nesting = 2): Promise<string[]> {
    const all: string[] = []
    for await (const texts of this.texts(nesting)) all.push(...texts)
    return all
  }

  /** Returns the item of a response with one item. @throws {ItemStoreError} `INVALID_RESPONSE`. */
  async item(): Promise<ItemRead> {
    const { head } = this
    const [text] = await this.all(1)
    if (!text) throw invalidResponse(head)
    // A proxy that compresses responses makes the tag weak, and a weak tag never matches. The item's text is unchanged,
    // so the tag is made strong again.
    return { head, text, tag: head.headers.get('etag')?.replace(/^W\//, '') }
  }
}

/** Entity tags, by item object. If the tag were a member of the item, a replace would store it with the item. */
const tags = new WeakMap<object, string>()

/** Stores an item's tag for `tagOf`. A codec may return values that are not objects, or objects without a prototype. */
export function keepTag(item: unknown, tag: string | undefined): void {
  if (tag && item === Object(item)) tags.set(item as object, tag) // the type was just checked
}

/**
 * Returns the entity tag of an item from `create`, `get`, `replace`, `update` or `watch`. A copy of the item has no
 * tag.
 * @throws {TypeError} if the object has no tag, for example an item of a list.
 */
export function tagOf(item: object): string {
  const tag = tags.get(item)
  if (tag === undefined) throw wrong('the item has no tag: it is a copy, or from a list')
  return tag
}
