/** Blocks that show code or response bodies, with JSON tokens in colour. @module */

import { CopyButton } from '../shared/components.js'
import { coloured } from '../shared/json-colours.js'

export function Code({ title, text }: { title: string; text: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: without it, the keyboard cannot scroll
    <figure class="code" tabIndex={0} aria-label={title}>
      <pre>{coloured(text)}</pre>
    </figure>
  )
}

export function Panel({ title, text }: { title: string; text: string }) {
  return (
    <div class="panel">
      <div class="line">
        <h3>{title}</h3>
        <CopyButton what="code" text={text} />
      </div>
      <Code title={title} text={text} />
    </div>
  )
}
