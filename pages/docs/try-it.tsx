/** The form that sends a request of one operation, and shows the response. @module */

import { useRef, useState } from 'preact/hooks'
import { Button, useToken } from '../shared/components.js'
import { formatted } from '../shared/numbers.js'
import type { CallsProps } from './calls.js'
import { byPlace, type Operation, type Parameter, shownValue } from './openapi.js'
import { ReceivedResponse } from './received-response.js'
import { type Input, requestFor } from './request.js'
import { kindOf } from './responses.js'
import { obstacleIn, type Received, sendRequest } from './send.js'

interface TryItProps extends CallsProps {
  readonly input: Input
  onParameter(parameter: Parameter, value: string): void
  onBody(body: string): void
}

type State =
  | { readonly kind: 'waiting'; readonly bytes: number }
  | { readonly kind: 'received'; readonly received: Received; readonly filledIn: readonly string[] }
  /** No response arrived; the message gives the reason. */
  | { readonly kind: 'failed'; readonly message: string }

export function TryIt(props: TryItProps) {
  const { operation, operations, input, onParameter, onBody } = props
  const token = useToken()
  const [state, setState] = useState<State>()
  const controller = useRef<AbortController>(undefined)
  const { inHead, others } = byPlace(operation.parameters)

  async function send(event: Event): Promise<void> {
    event.preventDefault()
    controller.current?.abort()
    const own = new AbortController()
    controller.current = own
    const fail = (message: string) => setState({ kind: 'failed', message })
    const obstacle = obstacleIn(operation, input, operation.needsToken ? token : '')
    const request = requestFor(operation, input, token)
    if (obstacle !== undefined || request === undefined) {
      fail(obstacle ?? 'A browser cannot send this path.')
      return
    }
    setState({ kind: 'waiting', bytes: 0 })
    try {
      const onProgress = (bytes: number) => setState({ kind: 'waiting', bytes })
      const received = await sendRequest(request, onProgress, own.signal)
      const found = parametersIn(received, operations)
      props.onParameters(found)
      setState({ kind: 'received', received, filledIn: Object.keys(found) })
    } catch (error) {
      if (controller.current !== own) return
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
  return (
    <>
      <form onSubmit={send}>
        {others.map(field)}
        {input.body === undefined ? null : (
          <label>
            Body
            <textarea
              name="body"
              rows={8}
              spellcheck={false}
              value={input.body}
              onInput={(event) => onBody(event.currentTarget.value)}
            />
          </label>
        )}
        {inHead.length > 0 && (
          <details>
            <summary>Conditional and repeatable requests</summary>
            {inHead.map(field)}
          </details>
        )}
        <div class="line">
          <button class="main" type="submit">
            Send
          </button>
          {/* The Stop button is never removed, so that it keeps the focus after the response has arrived. */}
          <Button
            aria-disabled={state?.kind !== 'waiting'}
            onClick={() => controller.current?.abort()}
          >
            Stop
          </Button>
          {state?.kind === 'waiting' && <span>{formatted(state.bytes)} bytes…</span>}
          {operation.needsToken && token === '' && (
            <span class="caution">There is no token in the field at the top of the page.</span>
          )}
        </div>
      </form>
      <Outcome state={state} />
      {state?.kind === 'received' && (
        <ReceivedResponse received={state.received} name={operation.operationId} />
      )}
    </>
  )
}

/** Shows the outcome of a request, which screen readers announce when it changes. */
function Outcome({ state }: { state: State | undefined }) {
  return (
    <div role="status">
      {state?.kind === 'failed' && <p class="bad">{state.message}</p>}
      {state?.kind === 'received' && (
        <>
          <div class="line outcome">
            <h3>Your response</h3>
            <span class={`tag ${kindOf(state.received.status)}`}>
              {state.received.status} {state.received.statusText}
            </span>
            <span class="note">
              {`${formatted(state.received.bytes.length)} bytes in ${Math.ceil(state.received.time)} ms`}
            </span>
          </div>
          {state.filledIn.length > 0 && (
            <p class="note">All forms on this page now have its {state.filledIn.join(' and ')}.</p>
          )}
        </>
      )}
    </div>
  )
}

/** Returns the path parameters in the `Location` header of a new item. */
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
