/** The documented responses of an operation, and the examples of the chosen response. @module */

import { Choice } from '../shared/components.js'
import { Code } from './code.js'
import {
  nameIn,
  type OpenApiDocument,
  type Operation,
  type Response,
  shownValue,
} from './openapi.js'
import { Line, Prose } from './prose.js'
import { Term, Type } from './schemas.js'

export interface ResponsesProps {
  readonly operation: Operation
  readonly document: OpenApiDocument
  readonly status: string
  onStatus(status: string): void
}

export function ResponseList({ operation, document, status: chosen, onStatus }: ResponsesProps) {
  return (
    <>
      <h3>Responses</h3>
      {Object.entries(operation.responses).map(([status, { description, content, headers }]) => (
        <details
          key={status}
          class="response"
          open={status === chosen}
          onToggle={({ currentTarget }) => currentTarget.open && onStatus(status)}
        >
          <summary>
            <Status status={status} />
            <span>
              {description.split('\n\n').map((line) => (
                <span key={line}>
                  <Line text={line.replace(/^(`\w+`):/, '$1')} />
                </span>
              ))}
            </span>
          </summary>
          <p class="note">
            {Object.entries(content ?? {}).map(([type, { schema }]) => (
              <Type key={type} schema={schema} />
            ))}
          </p>
          <a class="narrow note" href={`#${examplesId(operation)}`}>
            Example
          </a>
          <details>
            <summary>Headers</summary>
            <Headers headers={headers} document={document} />
          </details>
        </details>
      ))}
    </>
  )
}

export function Examples({ operation, document, status: chosen, onStatus }: ResponsesProps) {
  const { content } = operation.responses[chosen] ?? {}
  return (
    <div class="panel" id={examplesId(operation)}>
      <Choice
        title={`Status of the response to ${operation.summary}`}
        texts={Object.keys(operation.responses)}
        chosen={chosen}
        onChoose={onStatus}
        label={(status) => <Status status={status} />}
      />
      {content === undefined ? (
        <p class="note">The response has no body.</p>
      ) : (
        Object.values(content).flatMap(({ examples }) =>
          Object.entries(examples ?? {}).map(([name, { $ref }]) => (
            <Code
              key={$ref}
              title={`${chosen} ${name}`}
              text={shownValue(document.components.examples[nameIn($ref)]?.value)}
            />
          )),
        )
      )}
    </div>
  )
}

function examplesId({ operationId }: Operation): string {
  return `${operationId}-examples`
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
