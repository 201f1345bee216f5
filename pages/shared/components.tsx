/** Components that both pages use: product name, buttons, copy buttons and radio buttons. @module */

import type { ComponentChildren, ComponentProps } from 'preact'
import { useState } from 'preact/hooks'

const logo = new URL('./icon.svg', import.meta.url).href // also the page's icon, so that browsers load it once

export function Brand() {
  return (
    <span class="brand">
      <img src={logo} alt="" width="20" height="20" />
      Item Store
    </span>
  )
}

export function Button(props: ComponentProps<'button'>) {
  return <button type="button" {...props} />
}

/** Hidden without a clipboard. Without TLS, browsers offer one only to pages from the same machine. */
export function CopyButton({ what, text }: { what: string; text: string }) {
  const [copied, setCopied] = useState<{ text: string; outcome: string }>()
  if (navigator.clipboard === undefined) return null
  async function copy(): Promise<void> {
    const outcome = await navigator.clipboard.writeText(text).then(
      () => 'Copied',
      () => 'Not copied',
    )
    setCopied({ text, outcome })
  }
  return (
    <Button onClick={copy}>
      {copied?.text === text ? (
        copied.outcome
      ) : (
        <>
          Copy<span class="what"> {what}</span>
        </>
      )}
    </Button>
  )
}

interface ChoiceProps<T extends string> {
  /** Title for screen readers, which must be unique on the page. */
  readonly title: string
  readonly texts: readonly T[]
  readonly chosen: T
  onChoose(text: T): void
  label?(text: T): ComponentChildren
}

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
