/** The documented responses of an operation, and the examples of the chosen response. @module */

import { Choice } from '../shared/components.js'
import { Code } from './code.js'
import {
  type Content,
  nameIn,
  type OpenApiDocument,
  type Response,
  type ResponseGroup,
  rowId,
  shownValue,
} from './openapi.js'
import { Line, Prose } from './prose.js'
import { Term, Type } from './schemas.js'

export interface ResponsesProps {
  readonly operation: ResponseGroup
  readonly document: OpenApiDocument
  readonly status: string
  onStatus(status: string): void
}

/** On a narrow screen, each response contains its examples, so that a tap does not change what is out of sight. */
export function ResponseList({ operation, document, onStatus }: Omit<ResponsesProps, 'status'>) {
  const { responses, common = [] } = operation
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
          <i class="anchor" id={rowId(operation, status)} />
          <div class="panel narrow">
            <Bodies {...{ status, content, document }} />
          </div>
          <p class="note">
            {Object.entries(content ?? {}).map(([type, { schema }]) => (
              <Type key={type} schema={schema} />
            ))}
          </p>
          <details>
            <summary>Headers</summary>
            <Headers headers={headers} document={document} />
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

export function Examples({ operation, document, status: chosen, onStatus }: ResponsesProps) {
  const { summary, responses } = operation
  return (
    <div class="panel examples">
      <Choice
        title={`Status of the response: ${summary}`}
        texts={Object.keys(responses)}
        chosen={chosen}
        onChoose={onStatus}
        label={(status) => <Status status={status} />}
      />
      <Bodies status={chosen} content={responses[chosen]?.content} document={document} />
    </div>
  )
}

interface BodiesProps {
  readonly status: string
  readonly content: Content | undefined
  readonly document: OpenApiDocument
}

function Bodies({ status, content, document }: BodiesProps) {
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

interface HeadersProps {
  readonly headers: Response['headers'] | undefined
  readonly document: OpenApiDocument
}

function Headers({ headers, document }: HeadersProps) {
  return (
    <dl class="members">
      {Object.entries(headers ?? {}).map(([name, { $ref }]) => {
        const header = document.components.headers[nameIn($ref)]
        return (
          header && (
            <Term key={name} name={`${name}: ${shownValue(header.example)}`}>
              <Prose text={header.description} />
            </Term>
          )
        )
      })}
    </dl>
  )
}
