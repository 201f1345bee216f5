/** Descriptions from the OpenAPI document: paragraphs, with `code` in backticks. @module */

export function Prose({ text }: { text: string }) {
  return text.split('\n\n').map((paragraph) => (
    <p key={paragraph}>
      <Line text={paragraph} />
    </p>
  ))
}

export function Line({ text }: { text: string }) {
  return text.split('`').map((part, place) =>
    // Parts with an odd index were in backticks. Descriptions never change, so the index is a valid key.
    place % 2 === 1 ? <code key={place}>{part}</code> : part,
  )
}
