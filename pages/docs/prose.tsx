/** Descriptions of the document: paragraphs, with `code` between backticks. @module */

interface ProseProps {
  readonly text: string
}

export function Prose({ text }: ProseProps) {
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
export function Words({ text }: ProseProps) {
  return (
    <>
      {text.split('`').map((part, place) =>
        // Every second part is between backticks; parts never change places.
        place % 2 === 1 ? <code key={place}>{part}</code> : part,
      )}
    </>
  )
}
