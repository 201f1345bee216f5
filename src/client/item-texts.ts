/** Splits a response into the JSON texts of its items as it arrives, and remembers entity tags. @module */

import { invalidResponse, wrong } from './item-store-error.js'
import { JsonScanner } from './json-scanner.js'
import type { Tagged } from './options.js'

const id = /"id"\s*:\s*"/ // an item's first member (spec §2.1)
const label = /^\s*"data"\s*:\s*$/
type Nesting = 1 | 2 // brackets around a single item, and around one in a list

export interface ItemRead {
  readonly head: Response
  readonly text: string
  readonly tag?: string | undefined // `undefined` for an item from a list
}

/** A response whose body is text. Call one method, and only once: each reads the body. */
export class TextResponse {
  readonly head: Response
  /** Parts of the body as they arrive. Leaving a loop early closes the connection. */
  readonly parts: AsyncGenerator<string, void, void>

  constructor(head: Response, parts: AsyncGenerator<string, void, void>) {
    this.head = head
    this.parts = parts
  }

  async text(): Promise<string> {
    let text = ''
    for await (const part of this.parts) text += part
    return text
  }

  async *texts(nesting: Nesting = 2): AsyncGenerator<string[], void, void> {
    const scanner = new JsonScanner()
    let isFound = false
    let isInData = false
    let isInItem = false
    let kept = '' // from earlier parts: the beginning of an item, or what follows the last bracket or comma
    for await (const part of this.parts) {
      const texts: string[] = []
      let from = 0
      for (let sign = scanner.next(part); sign; sign = scanner.next(part)) {
        const { at, depth } = scanner
        if (isInItem) {
          if (depth !== nesting || sign !== '}') continue
          const text = kept + part.slice(from, at + 1)
          if (!id.test(text)) throw invalidResponse(this.head)
          texts.push(text)
          isInItem = false
        } else if (isInData) {
          // Nothing but items may be in a list.
          const between = kept + part.slice(from, at)
          if (between.trim() || !',{]}'.includes(sign)) throw invalidResponse(this.head)
          isInData = depth > 1
          isInItem = sign === '{'
        } else if ('":'.includes(sign)) continue
        else if (depth === 2 && label.test(kept + part.slice(from, at))) {
          isInData = isFound = sign === '{['[nesting - 1]
          isInItem = isInData && nesting === 1
        }
        kept = isInItem ? sign : ''
        from = at + 1
      }
      kept += part.slice(from)
      yield texts
    }
    if (!isFound || scanner.depth !== 0) throw invalidResponse(this.head)
  }

  async all(nesting: Nesting = 2): Promise<string[]> {
    const all: string[] = []
    for await (const texts of this.texts(nesting)) all.push(...texts)
    return all
  }

  async item(): Promise<ItemRead> {
    const { head } = this
    const [text] = await this.all(1)
    if (!text) throw invalidResponse(head)
    // Drops the `W/` that a compressing proxy adds to the entity tag, because `If-Match` never matches a weak one.
    return { head, text, tag: head.headers.get('etag')?.replace(/^W\//, '') }
  }
}

/** Entity tags, kept outside the items so that a replace doesn't store them. */
const tags = new WeakMap<object, string>()

/** Remembers an item's entity tag for `tagOf`, unless the item is a primitive value, made by a custom codec. */
export function keepTag(item: unknown, tag: string | undefined): void {
  if (tag && item === Object(item)) tags.set(item as object, tag) // the type was just checked
}

/** Returns an item's entity tag. @throws {TypeError} for a copy of an item, or for an item from a list. */
export function tagOf(item: Tagged): string {
  const tag = tags.get(item)
  if (tag === undefined) throw wrong('the item has no tag: it is a copy, or from a list; use `get`')
  return tag
}
