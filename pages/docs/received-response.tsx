/** A response as it was received: its headers, and its body to the character. @module */

import { useState } from 'preact/hooks'
import { Button, CopyButton } from '../shared/components.js'
import { download } from '../shared/download.js'
import { layOut } from '../shared/json-layout.js'
import { formatted } from '../shared/numbers.js'
import { Code } from './code.js'
import type { Received } from './send.js'

/** Longest part of a body that is shown, in characters: browsers take seconds to lay out much more. */
const maxShown = 100_000

interface ReceivedResponseProps {
  readonly received: Received
  /** For the name of the downloaded file. */
  readonly name: string
}

export function ReceivedResponse({ received, name }: ReceivedResponseProps) {
  const [isLaidOut, setLaidOut] = useState(true)
  const { headers, bytes, text } = received
  const isJson = headers.some(([name, value]) => name === 'content-type' && value.includes('json'))
  const start = text.slice(0, maxShown)
  return (
    <div class="received">
      {text === '' ? (
        <p>The response has no body.</p>
      ) : (
        <>
          <div class="line">
            {isJson ? (
              <label class="line">
                <input
                  type="checkbox"
                  checked={isLaidOut}
                  onInput={(event) => setLaidOut(event.currentTarget.checked)}
                />
                Indented
              </label>
            ) : null}
            <CopyButton what="body" text={text} />
            <Button
              onClick={() => download(new Blob([bytes]), `${name}.${isJson ? 'json' : 'txt'}`)}
            >
              Download
            </Button>
          </div>
          {text.length > maxShown ? (
            <p class="caution">
              {`The first ${formatted(maxShown)} of ${formatted(text.length)} characters. `}
              Copy and Download give all of them.
            </p>
          ) : null}
          <Code title={`Body of ${name}`} text={isJson && isLaidOut ? layOut(start) : start} />
        </>
      )}
      <details>
        <summary>Headers</summary>
        <pre>{headers.map(([name, value]) => `${name}: ${value}`).join('\n')}</pre>
      </details>
    </div>
  )
}
