/** Colours the tokens of JSON text that is shown. @module */

import { h } from 'preact'

/** Text after this place stays without colours, so that a long one is shown at once. In characters. */
const longest = 20_000

/** A string with the colon after it, if it is a name; a number; a literal. */
const token = /("[^"\\]*(?:\\.[^"\\]*)*"?)(\s*:)?|-?\d[-+.\dEe]*|true|false|null/gs

type Part = string | ReturnType<typeof span>

/** The same text, character for character, with an element around each token that has a colour. It may end anywhere. */
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
