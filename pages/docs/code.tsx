/** A block of code or of a response body, with JSON tokens in colour. @module */

import { coloured } from '../shared/json-colours.js'

export function Code({ title, text }: { title: string; text: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: without it, the keyboard cannot scroll
    <figure class="code" tabIndex={0} aria-label={title}>
      <pre>{coloured(text)}</pre>
    </figure>
  )
}
