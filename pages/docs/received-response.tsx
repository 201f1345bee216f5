/** Shows a received response: the headers, and the unchanged body. @module */

import { useEffect, useRef, useState } from 'preact/hooks'
import { Button, CopyButton } from '../shared/components.js'
import { download } from '../shared/download.js'
import { layOut } from '../shared/json-layout.js'
import { formatted } from '../shared/numbers.js'
import { Code } from './code.js'
import { kindOf } from './responses.js'
import type { Received } from './send.js'

const maxShown = 100_000 // characters; browsers would take seconds to lay out many more

export function ReceivedResponse({ received, name }: { received: Received; name: string }) {
  const [isLaidOut, setLaidOut] = useState(true)
  const panel = useRef<HTMLDivElement>(null)
  useEffect(() => panel.current?.scrollIntoView({ block: 'nearest' }), [received])
  const { status, headers, bytes, text } = received
  const isJson = headers.some(([name, value]) => name === 'content-type' && value.includes('json'))
  const start = text.slice(0, maxShown)
  const shown = isJson && isLaidOut ? layOut(start) : start
  return (
    <div class="panel received" ref={panel}>
      <div class="line">
        <h3 class="line">
          <span class="wide">Response</span>
          <span class={`tag ${kindOf(status)}`}>{status}</span>
        </h3>
        {text !== '' && (
          <>
            {isJson && (
              <label class="line">
                <input
                  type="checkbox"
                  checked={isLaidOut}
                  onInput={(event) => setLaidOut(event.currentTarget.checked)}
                />
                Indented
              </label>
            )}
            <CopyButton what="body" text={text} />
            <Button
              onClick={() => download(new Blob([bytes]), `${name}.${isJson ? 'json' : 'txt'}`)}
            >
              Download
            </Button>
          </>
        )}
      </div>
      {text.length > maxShown && (
        <p class="caution">
          {`The first ${formatted(maxShown)} of ${formatted(text.length)} characters. `}
          Copy and Download give all of them.
        </p>
      )}
      {text === '' ? (
        <p class="note">The response has no body.</p>
      ) : (
        <Code title={`Body of ${name}`} text={shown} />
      )}
      <details>
        <summary>Headers</summary>
        <pre>{headers.map(([name, value]) => `${name}: ${value}`).join('\n')}</pre>
      </details>
    </div>
  )
}
