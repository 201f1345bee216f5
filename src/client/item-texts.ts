/** Cuts the items' own texts out of an envelope as it arrives, without parsing them. @module */

import type { TextResponse } from './fetch-text.js'
import { invalidResponse, membersOf, parsed } from './item-store-error.js'
import { JsonScanner } from './json-scanner.js'

/** Every item has an id (spec §2.1); the service writes it first. */
const id = /"id"\s*:\s*"/

/** How many objects and arrays are open around an item: the envelope, and in a list the array. */
export type Nesting = 1 | 2

/** The envelope up to the bracket with which its data begin, and the data once an empty object is in place of each item. */
const forms = {
  1: { start: /[{,]\s*"data"\s*:\s*{$/, whole: /^{}$/ },
  2: { start: /[{,]\s*"data"\s*:\s*\[$/, whole: /^\[[{},]*]$/ },
} as const

/**
 * The texts of the items in a response, in batches: those that each part of it completes. The service has
 * checked the texts; the envelope around them is parsed at the end: it may come from something else.
 * @throws {ItemStoreError} `INVALID_RESPONSE` when one has no id, and at the end, when the response is not an
 * envelope of items, or not all of it.
 */
export async function* itemTexts(
  { head, parts }: TextResponse,
  nesting: Nesting,
): AsyncGenerator<string[], void, void> {
  const { start, whole } = forms[nesting]
  const scanner = new JsonScanner()
  let isInData = false
  /** What earlier parts had of the item that is being cut out; `undefined` between items. */
  let item: string | undefined
  /** The envelope with an empty object in place of each item, or of several in a row. */
  let envelope = ''
  for await (const part of parts) {
    const texts: string[] = []
    /** Where the item that is being cut out, or what is around it, goes on in this part. */
    let from = 0
    scanner.feed(part)
    for (let sign = scanner.next(); sign; sign = scanner.next()) {
      const { at, depth } = scanner
      if (depth === 2 && (sign === '{' || sign === '[')) {
        isInData = start.test(envelope + part.slice(from, at + 1))
      }
      if (isInData && sign === '{' && depth === nesting + 1) {
        const between = part.slice(from, at)
        if (between.trim() !== ',' || !envelope.endsWith('{}')) envelope += `${between}{}`
        item = ''
        from = at
      } else if (item !== undefined && sign === '}' && depth === nesting) {
        const text = item + part.slice(from, at + 1)
        if (!id.test(text)) throw invalidResponse(head)
        texts.push(text)
        item = undefined
        from = at + 1
      }
    }
    if (item === undefined) envelope += part.slice(from)
    else item += part.slice(from)
    yield texts
  }
  const { data } = membersOf(parsed(envelope))
  if (!whole.test(`${JSON.stringify(data)}`)) throw invalidResponse(head)
}

/** The texts of all items in a response. */
export async function allTexts(response: TextResponse, nesting: Nesting): Promise<string[]> {
  const all: string[] = []
  for await (const texts of itemTexts(response, nesting)) for (const text of texts) all.push(text)
  return all
}
