/** A response as it was received: its headers, and its body to the character. @module */

import { CopyButton } from '../shared/copy-button.js'
import { download } from '../shared/download.js'
import { layOut } from '../shared/json-layout.js'
import { formatted } from '../shared/numbers.js'
import type { Received } from './request.js'

/** Longest part of a body that is shown, in characters: browsers take seconds to lay out much more. */
const maxShown = 100_000

interface ReceivedResponseProps {
  readonly received: Received
  /** For the name of the downloaded file. */
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
          <div class="line bar">
            {isJson ? (
              <label class="line">
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
              onClick={() => download(new Blob([bytes]), `${name}.${isJson ? 'json' : 'txt'}`)}
            >
              Download
            </button>
          </div>
          {text.length > maxShown ? (
            <p class="caution">
              {`The first ${formatted(maxShown)} of ${formatted(text.length)} characters. `}
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
