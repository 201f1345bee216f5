/** Tabs: a choice of one of a few texts. @module */

interface ChoiceProps<T extends string> {
  /** What is chosen, for screen readers. It is also the name of the group, so it is there only once. */
  readonly title: string
  readonly texts: readonly T[]
  readonly chosen: T
  onChoose(text: T): void
}

/** Radio buttons that look like tabs: browsers and screen readers know what keys they have. */
export function Choice<T extends string>(props: ChoiceProps<T>) {
  const { title, texts, chosen, onChoose } = props
  return (
    <fieldset class="choice">
      <legend class="unseen">{title}</legend>
      {texts.map((text) => (
        <label key={text}>
          <input
            type="radio"
            name={title}
            checked={text === chosen}
            onChange={() => onChoose(text)}
          />
          {text}
        </label>
      ))}
    </fieldset>
  )
}
