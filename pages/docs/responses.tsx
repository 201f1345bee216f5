/** The documented responses of an operation, and the examples of the chosen response. @module */

import { Choice } from '../shared/components.js'
import { Code } from './code.js'
import { nameIn, type OpenApiDocument, type ResponseGroup, shownValue } from './openapi.js'
import { Line, Prose } from './prose.js'
import { Term, Type } from './schemas.js'

export interface ResponsesProps {
  readonly operation: ResponseGroup
  readonly document: OpenApiDocument
  readonly status: string
  onStatus(status: string): void
}

/** On a narrow screen, each response contains its examples, so that a tap changes nothing off screen. */
export function ResponseList({ operation, document, onStatus }: Omit<ResponsesProps, 'status'>) {
  const { operationId, responses, common = [] } = operation
  return (
    <>
      <h3>Responses</h3>
      {Object.entries(responses).map(([status, { description, content, headers }], at) => (
        <details
          key={status}
          class="response"
          open={at === 0}
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
          {/* Browsers expand a folded response when a link points to an element inside it. */}
          <i class="anchor" id={`${operationId}-${status}`} />
          <div class="panel narrow">
            <Bodies {...{ operation, status, document }} />
          </div>
          <p class="note">
            {Object.entries(content ?? {}).map(([type, { schema }]) => (
              <Type key={type} schema={schema} />
            ))}
          </p>
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
      <Choice
        title={`Status of the response: ${summary}`}
        texts={Object.keys(responses)}
        chosen={props.status}
        onChoose={props.onStatus}
        label={(status) => <Status status={status} />}
      />
      <Bodies {...props} />
    </div>
  )
}

function Bodies({ operation, status, document }: Omit<ResponsesProps, 'onStatus'>) {
  const content = operation.responses[status]?.content
  if (content === undefined) return <p class="note">The response has no body.</p>
  return Object.values(content).flatMap(({ examples }) =>
    Object.entries(examples ?? {}).map(([name, { $ref }]) => (
      <Code
        key={$ref}
        title={`${status} ${name}`}
        text={shownValue(document.components.examples[nameIn($ref)]?.value)}
      />
    )),
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
