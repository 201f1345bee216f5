/** Descriptions from the OpenAPI document: paragraphs, with `code` in backticks. @module */

export function Prose({ text }: { text: string }) {
  return text.split('\n\n').map((paragraph) => (
    <p key={paragraph}>
      <Line text={paragraph} />
    </p>
  ))
}

/** The text of one paragraph. */
export function Line({ text }: { text: string }) {
  return text.split('`').map((part, place) =>
    // Parts with an odd index were in backticks. The index can be the key, as descriptions never change.
    place % 2 === 1 ? <code key={place}>{part}</code> : part,
  )
}
