/** The form that sends a request of one operation, and shows the response. @module */

import { useRef, useState } from 'preact/hooks'
import { CopyButton } from '../shared/copy-button.js'
import { formatted } from '../shared/numbers.js'
import { useToken } from '../shared/token-form.js'
import { nameIn, type OpenApiDocument, type Operation, shownValue } from './openapi.js'
import { ReceivedResponse } from './received-response.js'
import { curlFor, type Received, requestFor, sendRequest } from './request.js'
import { kindOf } from './response-list.js'

export interface TryItProps {
  readonly document: OpenApiDocument
  readonly operation: Operation
  readonly operations: readonly Operation[]
  /** Values of those parameters by name that all operations share: they are in the path. */
  readonly parameters: Readonly<Record<string, string>>
  onParameters(changes: Record<string, string>): void
  readonly isLaidOut: boolean
  onLayOut(isLaidOut: boolean): void
}

type State =
  | { readonly kind: 'idle' }
  | { readonly kind: 'waiting'; readonly bytes: number }
  | { readonly kind: 'received'; readonly received: Received; readonly filledIn: readonly string[] }
  /** There was no response; the message says why. */
  | { readonly kind: 'failed'; readonly message: string }

export function TryIt(props: TryItProps) {
  const { document, operation, operations, parameters, onParameters } = props
  const { operationId, method, path, needsToken } = operation
  const token = useToken()
  const [headers, setHeaders] = useState<Readonly<Record<string, string>>>({})
  const values = { ...parameters, ...headers }
  const [body, setBody] = useState(() => exampleBody(operation, document))
  const [state, setState] = useState<State>({ kind: 'idle' })
  const controller = useRef<AbortController>(undefined)
  const request = requestFor(operation, { parameters: values, body }, token)
  const curl = 'obstacle' in request ? undefined : curlFor(request, needsToken)
  const isWaiting = state.kind === 'waiting'

  async function send(event: Event): Promise<void> {
    event.preventDefault()
    controller.current?.abort()
    const own = new AbortController()
    controller.current = own
    const fail = (message: string) => setState({ kind: 'failed', message })
    if ('obstacle' in request) {
      fail(request.obstacle)
      return
    }
    setState({ kind: 'waiting', bytes: 0 })
    try {
      const onProgress = (bytes: number) => setState({ kind: 'waiting', bytes })
      const received = await sendRequest(request, onProgress, own.signal)
      const found = parametersIn(received, operations)
      onParameters(found)
      setState({ kind: 'received', received, filledIn: Object.keys(found) })
    } catch (error) {
      if (controller.current !== own) return
      const reason = error instanceof Error ? error.message : String(error)
      fail(own.signal.aborted ? 'Stopped.' : `The browser got no response: ${reason}`)
    }
  }

  return (
    <section class="try card" aria-labelledby={`${operationId}-try`}>
      <h4 id={`${operationId}-try`}>
        Try it <span class="unseen">{`${method} ${path}`}</span>
      </h4>
      <form onSubmit={send}>
        {operation.parameters.map(({ name, in: place, required = false, example = '' }) => (
          <label key={name}>
            {name}
            <input
              name={name}
              required={required}
              autocomplete="off"
              spellcheck={false}
              placeholder={shownValue(example)}
              value={values[name] ?? ''}
              onInput={({ currentTarget: { value } }) => {
                if (place !== 'path') setHeaders({ ...headers, [name]: value })
                else onParameters({ [name]: value })
              }}
            />
          </label>
        ))}
        {body === undefined ? null : (
          <label>
            Body
            <textarea
              name="body"
              rows={8}
              spellcheck={false}
              value={body}
              onInput={(event) => setBody(event.currentTarget.value)}
            />
          </label>
        )}
        <div class="line bar">
          <button class="main" type="submit">
            Send
          </button>
          {/* Never removed, so that it keeps the focus when there is nothing left to stop. */}
          <button
            type="button"
            aria-disabled={!isWaiting}
            onClick={() => controller.current?.abort()}
          >
            Stop
          </button>
          {isWaiting ? <span>{formatted(state.bytes)} bytes…</span> : null}
          {needsToken && token === '' ? (
            <span class="caution">There is no token in the field at the top of the page.</span>
          ) : null}
        </div>
      </form>
      {curl === undefined ? null : (
        <details class="curl">
          <summary>The same with curl</summary>
          <pre>{curl}</pre>
          <CopyButton what="command" text={curl} />
        </details>
      )}
      <Outcome state={state} />
      {state.kind === 'received' ? (
        <ReceivedResponse
          received={state.received}
          name={operationId}
          isLaidOut={props.isLaidOut}
          onLayOut={props.onLayOut}
        />
      ) : null}
    </section>
  )
}

/** One line, which screen readers announce when it changes. */
function Outcome({ state }: { state: State }) {
  return (
    <div role="status" class="outcome">
      {state.kind === 'failed' ? <p class="bad">{state.message}</p> : null}
      {state.kind === 'received' ? (
        <p>
          <strong class={kindOf(state.received.status)}>
            {state.received.status} {state.received.statusText}
          </strong>
          {`, ${formatted(state.received.bytes.length)} bytes in ${Math.ceil(state.received.time)} ms`}
          {state.filledIn.length > 0
            ? `. All forms on this page now have its ${state.filledIn.join(' and ')}.`
            : ''}
        </p>
      ) : null}
    </div>
  )
}

/** The first example, as text to edit; `undefined` for an operation without a body. */
function exampleBody({ requestBody }: Operation, document: OpenApiDocument): string | undefined {
  if (requestBody === undefined) return undefined
  const [media] = Object.values(requestBody.content)
  const [example] = Object.values(media?.examples ?? {})
  return shownValue(document.components.examples[nameIn(example?.$ref ?? '')]?.value ?? {})
}

/** The path parameters in the `Location` of a new item. */
function parametersIn(
  { headers }: Received,
  operations: readonly Operation[],
): Record<string, string> {
  const [, location] = headers.find(([name]) => name === 'location') ?? []
  if (location === undefined) return {}
  for (const { path } of operations) {
    const pattern = path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')
    const { groups } = new RegExp(`^${pattern}$`).exec(location) ?? {}
    if (groups !== undefined) return { ...groups }
  }
  return {}
}
