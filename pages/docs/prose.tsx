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
    // Text at odd indexes was in backticks. Descriptions never change, so the index is a valid component key.
    place % 2 === 1 ? <code key={place}>{part}</code> : part,
  )
}
