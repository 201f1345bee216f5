/** Colours the tokens of JSON text and code samples. @module */

import { h } from 'preact'

const longest = 20_000 // characters; a longer text would be slow to appear

/** Matches a token to colour. Keywords of code samples look like JSON literals, because none occurs in JSON. */
const token =
  /("[^"\\]*(?:\\.[^"\\]*)*"?)(\s*:)?|-?\d[-+.\dEe]*|\b(?:true|false|null|True|False|None|const|await|new|import|from)\b/gs

type Part = string | ReturnType<typeof span>

/** Wraps each token in an element, and changes no character. The text may end within a token. */
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
