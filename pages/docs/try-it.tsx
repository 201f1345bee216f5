/** The form with which the user sends a request for an operation. @module */

import { useRef, useState } from 'preact/hooks'
import { Button } from '../shared/components.js'
import { coloured } from '../shared/json-colours.js'
import { isCommand, keyOf } from '../shared/keys.js'
import { formatted } from '../shared/numbers.js'
import { token as tokenState } from '../shared/session.js'
import { byPlace, type Operation, type Parameter, shownValue } from './openapi.js'
import { type Input, requestFor } from './request.js'
import { kindOf } from './responses.js'
import { type Received, sendRequest } from './send.js'

interface TryItProps {
  readonly operation: Operation
  readonly operations: readonly Operation[]
  onParameters(changes: Record<string, string>): void
  readonly input: Input
  onParameter(parameter: Parameter, value: string): void
  onBody(body: string): void
  onReceived(received: Received): void
}

type State =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'received'; readonly received: Received; readonly filledIn: readonly string[] }
  | { readonly kind: 'failed'; readonly message: string }

export function TryIt(props: TryItProps) {
  const { operation, operations, input, onParameter, onBody, onReceived } = props
  const token = tokenState.use()
  const [state, setState] = useState<State>()
  const controller = useRef<AbortController>(undefined)
  const main = useRef<HTMLButtonElement>(null)
  const { inHead, others } = byPlace(operation.parameters)
  const isWaiting = state?.kind === 'waiting'

  async function send(event: Event): Promise<void> {
    event.preventDefault()
    if (isWaiting) return // a double click must not send the request twice
    const own = new AbortController()
    controller.current = own
    const fail = (message: string) => setState({ kind: 'failed', message })
    const request = requestFor(operation, input, token)
    if (!request)
      return fail('A browser cannot send this: half a character, or a path of only dots.')
    setState({ kind: 'waiting' })
    try {
      const received = await sendRequest(request, own.signal)
      const found = parametersIn(received, operations)
      props.onParameters(found)
      onReceived(received)
      setState({ kind: 'received', received, filledIn: Object.keys(found) })
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      fail(own.signal.aborted ? 'Stopped.' : `The browser got no response: ${reason}`)
    }
  }

  const field = (parameter: Parameter) => {
    const { name, required = false, example = '' } = parameter
    return (
      <label key={name}>
        {name}
        <input
          name={name}
          required={required}
          autocomplete="off"
          spellcheck={false}
          placeholder={shownValue(example)}
          value={input.parameters[name] ?? ''}
          onInput={(event) => onParameter(parameter, event.currentTarget.value)}
        />
      </label>
    )
  }
  const bodyId = `${operation.operationId}-body`
  return (
    <form
      onSubmit={send}
      onKeyDown={(event) => {
        if (keyOf(event) === 'Enter' && isCommand(event)) event.currentTarget.requestSubmit()
      }}
    >
      {others.map(field)}
      {input.body === undefined ? null : (
        <>
          <label for={bodyId}>Body</label>
          <div class="code editor">
            <pre aria-hidden="true">{coloured(`${input.body}\n`)}</pre>
            <textarea
              id={bodyId}
              name="body"
              spellcheck={false}
              value={input.body}
              onInput={(event) => onBody(event.currentTarget.value)}
            />
          </div>
        </>
      )}
      {inHead.length > 0 && (
        <details>
          <summary>Optional headers</summary>
          {inHead.map(field)}
        </details>
      )}
      <div class="line">
        {/* The request has a stop button of its own, because a double click presses this button twice. */}
        <button
          ref={main}
          class="main"
          type="submit"
          aria-disabled={isWaiting}
          aria-keyshortcuts="Control+Enter"
          title="Ctrl or ⌘ with Enter"
        >
          Send
        </button>
        {isWaiting && (
          <Button
            onClick={() => {
              controller.current?.abort()
              main.current?.focus() // the pressed button disappears
            }}
          >
            Stop
          </Button>
        )}
        {operation.needsToken && token === '' ? (
          <>
            <span class="caution">No token is set.</span>
            <Button popovertarget="token">Enter a token</Button>
          </>
        ) : (
          !state && <span class="note wide">Ctrl + Enter</span>
        )}
        <div role="status">
          <Outcome state={state} />
        </div>
      </div>
    </form>
  )
}

function Outcome({ state }: { state: State | undefined }) {
  if (state?.kind === 'failed') return <span class="bad">{state.message}</span>
  if (state?.kind !== 'received') return null
  const { status, statusText, bytes, time } = state.received
  return (
    <>
      <span class={`tag ${kindOf(status)}`}>
        {status} {statusText}
      </span>{' '}
      <span class="note">
        {`${formatted(bytes.length)} bytes in ${Math.ceil(time)} ms`}
        {state.filledIn.length > 0 && ` · all forms now have its ${state.filledIn.join(' and ')}`}
      </span>
    </>
  )
}

function parametersIn({ headers }: Received, operations: readonly Operation[]) {
  const [, location] = headers.find(([name]) => name === 'location') ?? []
  if (location === undefined) return {}
  for (const { path } of operations) {
    const pattern = path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')
    const { groups } = new RegExp(`^${pattern}$`).exec(location) ?? {}
    if (groups !== undefined) return { ...groups }
  }
  return {}
}
