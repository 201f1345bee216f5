/** Shows a description from the OpenAPI document as paragraphs, with text in backticks as code. @module */

export function Prose({ text }: { text: string }) {
  return text.split('\n\n').map((paragraph) => (
    <p key={paragraph}>
      <Line text={paragraph} />
    </p>
  ))
}

export function Line({ text }: { text: string }) {
  return text.split('`').map((part, place) =>
    // Odd indexes were in backticks. A description never changes, so the index will do as a key.
    place % 2 === 1 ? <code key={place}>{part}</code> : part,
  )
}
