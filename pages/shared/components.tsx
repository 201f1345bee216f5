/** What both pages show: the name of the product, the field for the token, buttons that copy, tabs. @module */

import type { ComponentChildren, ComponentProps } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { changeToken, currentToken, onTokenChange } from './session.js'

/** The file is the icon of the page, too: it is loaded once. */
const logo = new URL('./icon.svg', import.meta.url).href

export function Brand() {
  return (
    <span class="brand">
      <img src={logo} alt="" width="20" height="20" />
      Item Store
    </span>
  )
}

/** The token of this tab; the component renders again when it changes. */
export function useToken(): string {
  const [token, setToken] = useState(currentToken)
  useEffect(() => onTokenChange(setToken), [])
  return token
}

/** Each change takes effect at once: there is nothing to submit. */
export function TokenForm() {
  return (
    <form class="line token-form" onSubmit={(event) => event.preventDefault()}>
      <label class="line">
        Token
        <input
          type="password"
          name="token"
          autocomplete="off"
          spellcheck={false}
          placeholder="eyJ…"
          value={useToken()}
          onInput={(event) => changeToken(event.currentTarget.value)}
        />
      </label>
    </form>
  )
}

/** A button that submits no form. */
export function Button(props: ComponentProps<'button'>) {
  return <button type="button" {...props} />
}

/** Browsers allow this only to pages with TLS or from this machine; others get no button. */
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
  /** What is chosen, for screen readers. It is also the name of the group, so it is there only once. */
  readonly title: string
  readonly texts: readonly T[]
  readonly chosen: T
  onChoose(text: T): void
  /** What is shown of a text; by default the text. */
  label?(text: T): ComponentChildren
}

/** Radio buttons that look like tabs: browsers and screen readers know what keys they have. */
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
