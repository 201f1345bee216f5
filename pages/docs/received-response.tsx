/** A response as it came: its headers, and its body to the character. @module */

import { useState } from 'preact/hooks'
import { layOut } from '../shared/json-layout.js'
import type { Received } from './exchange.js'

/** Characters of a body that are shown: a browser takes seconds to lay out many more. */
const maxShown = 100_000

interface ReceivedResponseProps {
  readonly received: Received
  /** For the name of a file. */
  readonly name: string
  readonly isLaidOut: boolean
  onLayOut(isLaidOut: boolean): void
}

export function ReceivedResponse(props: ReceivedResponseProps) {
  const { received, name, isLaidOut, onLayOut } = props
  const { headers, bytes, text } = received
  const isJson = headers.some(([name, value]) => name === 'content-type' && value.includes('json'))
  const start = text.slice(0, maxShown)
  return (
    <div class="received">
      <h5>Body</h5>
      {text === '' ? (
        <p>The response has no body.</p>
      ) : (
        <>
          <div class="bar">
            {isJson ? (
              <label>
                <input
                  type="checkbox"
                  checked={isLaidOut}
                  onInput={(event) => onLayOut(event.currentTarget.checked)}
                />
                Indented
              </label>
            ) : null}
            <CopyButton what="body" text={text} />
            <button
              type="button"
              onClick={() => download(bytes, `${name}.${isJson ? 'json' : 'txt'}`)}
            >
              Download
            </button>
          </div>
          {text.length > maxShown ? (
            <p class="caution">
              {`The first ${maxShown.toLocaleString('en')} of ${text.length.toLocaleString('en')} characters. `}
              Copy and Download give all of them.
            </p>
          ) : null}
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: without it, the keyboard cannot scroll */}
          <section class="body" tabIndex={0} aria-label={`Body of ${name}`}>
            <pre>{isJson && isLaidOut ? layOut(start) : start}</pre>
          </section>
        </>
      )}
      <h5>Headers</h5>
      <pre>{headers.map(([name, value]) => `${name}: ${value}`).join('\n')}</pre>
    </div>
  )
}

interface CopyButtonProps {
  /** What is copied, for those who do not see where the button is. */
  readonly what: string
  readonly text: string
}

/** Browsers let only pages from this machine or with TLS copy; the button is not there for others. */
export function CopyButton({ what, text }: CopyButtonProps) {
  const [copied, setCopied] = useState<{ text: string; outcome: string }>()
  if (navigator.clipboard === undefined) return null
  async function copy(): Promise<void> {
    const outcome = await navigator.clipboard.writeText(text).then(
      () => 'Copied',
      () => 'Not copied: the browser forbids it',
    )
    setCopied({ text, outcome })
  }
  return (
    <button type="button" onClick={copy}>
      {copied?.text === text ? copied.outcome : 'Copy'} <span class="unseen">the {what}</span>
    </button>
  )
}

/** Saves the very bytes. */
function download(bytes: Uint8Array<ArrayBuffer>, name: string): void {
  const url = URL.createObjectURL(new Blob([bytes]))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 60_000) // some browsers read it only later
}
