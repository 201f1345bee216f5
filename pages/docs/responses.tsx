/** The documented responses of an operation, and the examples of the chosen response. @module */

import type { RenderableProps } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { Choice, CopyButton } from '../shared/components.js'
import { Code } from './code.js'
import { nameIn, type OpenApiDocument, type ResponseGroup, shownValue } from './openapi.js'
import { Line, Prose } from './prose.js'
import { Body, Term } from './schemas.js'

export interface ResponsesProps {
  readonly operation: ResponseGroup
  readonly document: OpenApiDocument
  readonly status: string
  onStatus(status: string): void
}

/** Lists the responses. On a narrow screen, each contains its examples, so that a tap changes nothing out of view. */
export function ResponseList({ operation, document, status: chosen, onStatus }: ResponsesProps) {
  const { operationId, responses, common = [] } = operation
  // A chosen response opens its row. Open rows stay open, so that the others do not move.
  const row = useRef<HTMLDetailsElement>(null)
  useEffect(() => row.current?.setAttribute('open', ''), [chosen])
  return (
    <>
      <h3>Responses</h3>
      {Object.entries(responses).map(([status, { description, content, headers }]) => (
        <details
          key={status}
          class="response"
          ref={status === chosen ? row : null}
          onToggle={({ currentTarget }) =>
            currentTarget.open && matchMedia('(width >= 62rem)').matches && onStatus(status)
          }
        >
          <summary>
            <Status status={status} />
            <span>
              {description.split('\n\n').map((text) => (
                <span key={text}>
                  <Line text={text.replace(/^(`\w+`):/, '$1')} />
                </span>
              ))}
            </span>
          </summary>
          {/* Browsers expand a collapsed response when the user follows a link to an element inside the response. */}
          <i class="anchor" id={`${operationId}-${status}`} />
          <div class="panel narrow">
            <Bodies {...{ operation, status, document }}>
              <h3>Example</h3>
            </Bodies>
          </div>
          <Body content={content ?? {}} document={document} />
          <details>
            <summary>Headers</summary>
            <dl class="members">
              {Object.entries(headers ?? {}).map(([name, { $ref }]) => {
                const { example, description = '' } =
                  document.components.headers[nameIn($ref)] ?? {}
                return (
                  <Term key={name} name={`${name}: ${shownValue(example)}`}>
                    <Prose text={description} />
                  </Term>
                )
              })}
            </dl>
          </details>
        </details>
      ))}
      {common.length > 0 && (
        <p class="note also">
          Common errors:
          {common.map((status) => (
            <a key={status} href={`#errors-${status}`}>
              <Status status={status} />
            </a>
          ))}
        </p>
      )}
    </>
  )
}

export function Examples(props: ResponsesProps) {
  const { summary, responses } = props.operation
  return (
    <div class="panel examples">
      <Bodies {...props}>
        <Choice
          title={`Status of the response: ${summary}`}
          texts={Object.keys(responses)}
          chosen={props.status}
          onChoose={props.onStatus}
          label={(status) => <Status status={status} />}
        />
      </Bodies>
    </div>
  )
}

type BodiesProps = RenderableProps<Omit<ResponsesProps, 'onStatus'>>

function Bodies({ operation, status, document, children }: BodiesProps) {
  const bodies = Object.values(operation.responses[status]?.content ?? {}).flatMap(({ examples }) =>
    Object.entries(examples ?? {}).map(([name, { $ref }]) => ({
      title: `${status} ${name}`,
      text: shownValue(document.components.examples[nameIn($ref)]?.value),
    })),
  )
  return (
    <>
      <div class="line">
        {children}
        {bodies[0] && <CopyButton what="body" text={bodies.map(({ text }) => text).join('\n')} />}
      </div>
      {bodies.length === 0 && <p class="note">The response has no body.</p>}
      {bodies.map((body) => (
        <Code key={body.title} {...body} />
      ))}
    </>
  )
}

function Status({ status }: { status: string }) {
  return (
    <span class="status">
      <i class={kindOf(status)} />
      {status}
    </span>
  )
}

export function kindOf(status: string | number): string {
  return `kind-${`${status}`[0]}`
}
