/** Colours the tokens of JSON text. @module */

import { h } from 'preact'

/** Number of characters that get colours. The rest of a long text gets none, so that it is shown at once. */
const longest = 20_000

/** Matches a JSON token that has a colour: a string, with a following colon if it is a name; a number; a literal. */
const token = /("[^"\\]*(?:\\.[^"\\]*)*"?)(\s*:)?|-?\d[-+.\dEe]*|true|false|null/gs

type Part = string | ReturnType<typeof span>

/** Puts an element around each token of a JSON text, without changing a character. The text may end anywhere. */
export function coloured(text: string): Part[] {
  const parts: Part[] = []
  let done = 0
  for (const { 0: all, 1: string, 2: colon, index } of text.slice(0, longest).matchAll(token)) {
    const shown = string ?? all
    const kind = colon ? 'name' : string ? 'string' : /^[-\d]/.test(all) ? 'number' : 'literal'
    parts.push(text.slice(done, index), span(kind, shown))
    done = index + shown.length
  }
  return [...parts, text.slice(done)]
}

function span(kind: string, text: string) {
  return h('span', { class: `json-${kind}` }, text)
}
