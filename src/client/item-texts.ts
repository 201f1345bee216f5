/** A response, from which the texts of items are cut out as it arrives without parsing them; tags of items. @module */

import { invalidResponse, membersIn, wrong } from './item-store-error.js'
import { JsonScanner } from './json-scanner.js'

/** Every item has an id (spec §2.1); the service writes it first. */
const id = /"id"\s*:\s*"/

/** How many objects and arrays are open around an item: the envelope, and in a list the array. */
type Nesting = 1 | 2

/** The text before the opening bracket of the data, which is looked for in the last characters alone. */
const label = /[{,]\s*"data"\s*:\s*$/
const labelLength = 100

/** What a response has of an item. */
export interface ItemRead {
  readonly head: Response
  readonly text: string
  /** `undefined` for items of a list. */
  readonly tag?: string | undefined
}

/** A response of the service. Each method reads its body, which can be read once. */
export class TextResponse {
  readonly head: Response
  /** The body as it arrives. Leaving it early closes the connection. */
  readonly parts: AsyncGenerator<string, void, void>

  constructor(head: Response, parts: AsyncGenerator<string, void, void>) {
    this.head = head
    this.parts = parts
  }

  /** The whole body. */
  async text(): Promise<string> {
    let text = ''
    for await (const part of this.parts) text += part
    return text
  }

  /**
   * The texts of the items, in batches: those that each part of the body completes. The service has checked the texts; the
   * envelope around them is parsed at the end: it may come from something else. Whatever that sends, the time is linear
   * in its length: no text is looked at twice, and none is searched that keeps growing.
   * @throws {ItemStoreError} `INVALID_RESPONSE` when one has no id, and at the end, when the response is not an
   * envelope of items, or not all of it.
   */
  async *texts(nesting: Nesting = 2): AsyncGenerator<string[], void, void> {
    const scanner = new JsonScanner()
    let isInData = false
    /** The end of the text before this part. */
    let tail = ''
    /** What earlier parts had of the item that is being cut out; `undefined` between items. */
    let item: string | undefined
    /** The envelope with an empty object in place of each item, or of several in a row. */
    let envelope = ''
    for await (const part of this.parts) {
      const texts: string[] = []
      /** Where the item that is being cut out, or what is around it, goes on in this part. */
      let from = 0
      for (let sign = scanner.next(part); sign; sign = scanner.next(part)) {
        const { at, depth } = scanner
        if (depth === 2 && '{['.includes(sign)) {
          const before = part.slice(Math.max(from, at - labelLength), at)
          isInData = sign === '{['[nesting - 1] && label.test(tail + before)
        }
        if (isInData && sign === '{' && depth === nesting + 1) {
          const between = part.slice(from, at)
          // If an item has ended in this part, the envelope ends with the object in its place.
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
    // Not by its text, which cannot be made of deeply nested arrays.
    const isItem = (each?: object | null) =>
      each?.constructor === Object && !Object.keys(each).length
    if (!Array.isArray(all) || !all.every(isItem)) throw invalidResponse(this.head)
  }

  /** The texts of all items. */
  async all(nesting: Nesting = 2): Promise<string[]> {
    const all: string[] = []
    for await (const texts of this.texts(nesting)) all.push(...texts)
    return all
  }

  /** The one item. @throws {ItemStoreError} `INVALID_RESPONSE`. */
  async item(): Promise<ItemRead> {
    const { head } = this
    const [text] = await this.all(1)
    if (!text) throw invalidResponse(head)
    // A proxy that compresses weakens the tag, with which no condition is met; the text is the same.
    return { head, text, tag: head.headers.get('etag')?.replace(/^W\//, '') }
  }
}

/** Tags are kept beside the items: a member would be stored with them. */
const tags = new WeakMap<object, string>()

/** Lets `tagOf` find the tag. A codec may make something else than objects, and objects without a prototype. */
export function keepTag(item: unknown, tag: string | undefined): void {
  if (tag && item === Object(item)) tags.set(item as object, tag) // as was just checked
}

/**
 * The entity tag of an item that `create`, `get`, `replace`, `update` or `watch` gave: of this object, not of a copy.
 * @throws {TypeError} when it has none, like the items of a list.
 */
export function tagOf(item: object): string {
  const tag = tags.get(item)
  if (tag === undefined) throw wrong('the item has no tag: it is a copy, or from a list')
  return tag
}
