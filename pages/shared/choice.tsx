/** Radio buttons that look like tabs. @module */

import type { ComponentChildren } from 'preact'

interface ChoiceProps<T extends string> {
  readonly title: string // for screen readers; unique on the page
  readonly texts: readonly T[]
  readonly chosen: T
  onChoose(text: T): void
  label?(text: T): ComponentChildren
}

/** Browsers have keyboard navigation for radio buttons built in. */
export function Choice<T extends string>(props: ChoiceProps<T>) {
  const { title, texts, chosen, onChoose, label } = props
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
          {label ? label(text) : text}
        </label>
      ))}
    </fieldset>
  )
}
