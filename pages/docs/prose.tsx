/** Descriptions in the document: paragraphs, with `code` in backticks. @module */

export function Prose({ text }: { text: string }) {
  return (
    <>
      {text.split('\n\n').map((paragraph) => (
        <p key={paragraph}>
          {paragraph.split('`').map((part, place) =>
            // Every second part was in backticks; the parts never change their order.
            place % 2 === 1 ? <code key={place}>{part}</code> : part,
          )}
        </p>
      ))}
    </>
  )
}
