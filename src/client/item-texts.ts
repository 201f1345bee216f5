/** Cuts the items' own texts out of an envelope as it comes in, without parsing them. @module */

import type { Reply } from './exchange.js'
import { invalidResponse } from './item-store-error.js'

const quote = 0x22
const openBracket = 0x5b
const backslash = 0x5c
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d

/** How many objects and arrays are open around an item: the envelope, and in a list the array. */
export type Nesting = 1 | 2

/**
 * The texts of the items in a response, in batches: those that each part of it completes.
 * @throws {ItemStoreError} `INVALID_RESPONSE` at the end, when it is not an envelope, or not all of it.
 */
export async function* itemTexts(
  { response, parts }: Reply,
  nesting: Nesting,
): AsyncGenerator<string[], void, void> {
  const cutter = createCutter(nesting)
  for await (const part of parts) yield cutter.cut(part)
  if (!cutter.isComplete()) throw invalidResponse(response)
}

interface Cutter {
  /** Takes the next part of the envelope. @returns the items that end in it. */
  cut(part: string): string[]
  /** Whether this was a whole envelope with `data`: one item or a list, whichever was asked for. */
  isComplete(): boolean
}

/**
 * Looks at brackets and strings alone: the service has checked the texts of items, and whoever parses
 * them checks them again. Of a text that is not complete it keeps the parts, and nothing else.
 */
export function createCutter(nesting: Nesting): Cutter {
  let depth = 0
  let isInString = false
  let isEscaped = false
  /** The latest string of the envelope itself: before a bracket, the name of the member. */
  let name = ''
  let isInData = false
  let hasData = false
  /** Whether a text is being cut out, and what earlier parts had of it. */
  let isCutting = false
  let kept = ''

  function cut(part: string): string[] {
    const texts: string[] = []
    let start = 0
    const begin = (at: number) => {
      isCutting = true
      start = at
    }
    const end = (at: number) => {
      const text = kept + part.slice(start, at + 1)
      isCutting = false
      kept = ''
      return text
    }
    for (let at = 0; at < part.length; at += 1) {
      const code = part.charCodeAt(at)
      if (isEscaped) {
        isEscaped = false
      } else if (isInString) {
        if (code === backslash) isEscaped = true
        if (code === quote) {
          isInString = false
          if (depth === 1) name = end(at)
        }
      } else if (code === quote) {
        isInString = true
        if (depth === 1) begin(at)
      } else if (code === openBrace || code === openBracket) {
        if (depth === 1) {
          isInData = name === '"data"' && code === (nesting === 1 ? openBrace : openBracket)
          hasData ||= isInData
        }
        if (isInData && depth === nesting) begin(at)
        depth += 1
      } else if (code === closeBrace || code === closeBracket) {
        depth -= 1
        if (isInData && depth === nesting) texts.push(end(at))
      }
    }
    if (isCutting) kept += part.slice(start)
    return texts
  }

  return { cut, isComplete: () => hasData && depth === 0 }
}
