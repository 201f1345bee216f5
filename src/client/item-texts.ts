/** Cuts the items' own texts out of an envelope as it arrives, without parsing them. @module */

import type { TextResponse } from './fetch-text.js'
import { invalidResponse } from './item-store-error.js'
import { JsonScanner } from './json-scanner.js'

/** How many objects and arrays are open around an item: the envelope, and in a list the array. */
export type Nesting = 1 | 2

/**
 * The texts of the items in a response, in batches: those that each part of it completes.
 * @throws {ItemStoreError} `INVALID_RESPONSE` at the end, when it is not an envelope, or not all of it.
 */
export async function* itemTexts(
  { head, parts }: TextResponse,
  nesting: Nesting,
): AsyncGenerator<string[], void, void> {
  const cutter = createCutter(nesting)
  for await (const part of parts) yield cutter.cut(part)
  if (!cutter.isComplete()) throw invalidResponse(head)
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

/** The service has checked the texts of items; of one that is not complete, the parts are kept. */
export function createCutter(nesting: Nesting): Cutter {
  const scanner = new JsonScanner()
  /** The latest string of the envelope itself: before a bracket, the name of the member. */
  let name = ''
  let isInData = false
  let hasData = false
  /** What earlier parts had of the text that is being cut out; `undefined` while none is. */
  let kept: string | undefined

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
    scanner.feed(part)
    for (let sign = scanner.next(); sign; sign = scanner.next()) {
      const { at, depth, isInString } = scanner
      if (sign === '"' && depth === 1) {
        if (isInString) begin(at)
        else name = end(at)
      } else if (sign === '{' || sign === '[') {
        if (depth === 2) isInData = name === '"data"' && sign === (nesting === 1 ? '{' : '[')
        hasData ||= isInData
        if (isInData && depth === nesting + 1) begin(at)
      } else if (sign === '}' || sign === ']') {
        if (isInData && depth === nesting) texts.push(end(at))
      }
    }
    if (kept !== undefined) kept += part.slice(start)
    return texts
  }

  return { cut, isComplete: () => hasData && scanner.depth === 0 }
}
