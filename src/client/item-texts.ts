/** Cuts the items' own texts out of an envelope as it arrives, without parsing them. @module */

import type { TextResponse } from './fetch-text.js'
import { invalidResponse, membersOf, parsed } from './item-store-error.js'
import { JsonScanner } from './json-scanner.js'

/** Every item has an id (spec §2.1); the service writes it first. */
const id = /"id"\s*:\s*"/

/** How many objects and arrays are open around an item: the envelope, and in a list the array. */
export type Nesting = 1 | 2

/**
 * The texts of the items in a response, in batches: those that each part of it completes.
 * @throws {ItemStoreError} `INVALID_RESPONSE` when one has no id, and at the end, when the response is not an
 * envelope of items, or not all of it.
 */
export async function* itemTexts(
  { head, parts }: TextResponse,
  nesting: Nesting,
): AsyncGenerator<string[], void, void> {
  const cutter = createCutter(nesting)
  for await (const part of parts) {
    const texts = cutter.cut(part)
    if (!texts.every((text) => id.test(text))) throw invalidResponse(head)
    yield texts
  }
  if (!cutter.isComplete()) throw invalidResponse(head)
}

/** The texts of all items in a list. */
export async function allTexts(response: TextResponse): Promise<string[]> {
  const all: string[] = []
  for await (const texts of itemTexts(response, 2)) for (const text of texts) all.push(text)
  return all
}

/** The text of the item in a response. @throws {ItemStoreError} `INVALID_RESPONSE`. */
export async function singleItemText(response: TextResponse): Promise<string> {
  let item: string | undefined
  for await (const [text] of itemTexts(response, 1)) item ??= text
  if (item === undefined) throw invalidResponse(response.head)
  return item
}

interface Cutter {
  /** Takes the next part of the envelope. @returns the items that end in it. */
  cut(part: string): string[]
  /** Whether this was a whole envelope with `data`: one item or a list, whichever was asked for. */
  isComplete(): boolean
}

/**
 * The service has checked the texts of items; of one that is not complete, the parts are kept. The envelope
 * around them is parsed at the end: it may come from something else.
 */
export function createCutter(nesting: Nesting): Cutter {
  const scanner = new JsonScanner()
  /** The latest string of the envelope itself: before a bracket, the name of the member. */
  let name = ''
  let isInData = false
  let isInItem = false
  /** What earlier parts had of the text that is being cut out; `undefined` while none is. */
  let kept: string | undefined
  /** The envelope with an empty object in place of each item, or of several in a row. */
  let envelope = ''

  function cut(part: string): string[] {
    const texts: string[] = []
    let start = 0
    const begin = (at: number) => {
      kept = ''
      start = at
    }
    const end = (at: number) => {
      const text = kept + part.slice(start, at + 1)
      kept = undefined
      return text
    }
    /** Where what this part has of the envelope goes on. */
    let around = 0
    scanner.feed(part)
    for (let sign = scanner.next(); sign; sign = scanner.next()) {
      const { at, depth, isInString } = scanner
      if (sign === '"' && depth === 1) {
        if (isInString) begin(at)
        else name = end(at)
      } else if (sign === '{' || sign === '[') {
        if (depth === 2) isInData = name === '"data"' && sign === (nesting === 1 ? '{' : '[')
        if (isInData && depth === nesting + 1 && sign === '{') {
          isInItem = true
          const between = part.slice(around, at)
          if (texts.length === 0 || !/^\s*,\s*$/.test(between)) envelope += `${between}{}`
          begin(at)
        }
      } else if (sign === '}' || sign === ']') {
        if (isInItem && depth === nesting) {
          isInItem = false
          around = at + 1
          texts.push(end(at))
        }
      }
    }
    if (kept !== undefined) kept += part.slice(start)
    if (!isInItem) envelope += part.slice(around)
    return texts
  }

  function isComplete(): boolean {
    const { data } = membersOf(parsed(envelope))
    return nesting === 1 ? isObject(data) : Array.isArray(data) && data.every(isObject)
  }

  return { cut, isComplete }
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
