/** Descriptions in the document: paragraphs, with `code` in backticks, and lists of terms. @module */

import type { ComponentChildren } from 'preact'

export function Prose({ text }: { text: string }) {
  return (
    <>
      {text.split('\n\n').map((paragraph) => (
        <p key={paragraph}>
          <Words text={paragraph} />
        </p>
      ))}
    </>
  )
}

/** One paragraph without its element. */
export function Words({ text }: { text: string }) {
  return (
    <>
      {text.split('`').map((part, place) =>
        // Every second part was in backticks; the parts never change their order.
        place % 2 === 1 ? <code key={place}>{part}</code> : part,
      )}
    </>
  )
}

interface TermProps {
  readonly name: string
  readonly note?: ComponentChildren
  readonly children: ComponentChildren
}

/** A name in a list, such as that of a parameter, and what is said of it. */
export function Term({ name, note, children }: TermProps) {
  return (
    <div>
      <dt>
        <code>{name}</code>
        {note && <span class="note">{note}</span>}
      </dt>
      <dd>{children}</dd>
    </div>
  )
}
