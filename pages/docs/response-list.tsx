/** The documented responses of an operation: statuses with error codes, headers, models and examples. @module */

import {
  type Content,
  nameIn,
  type OpenApiDocument,
  type Operation,
  type Response,
  shownValue,
} from './openapi.js'
import { Prose, Term, Words } from './prose.js'
import { Type } from './schemas.js'

interface ResponseListProps {
  readonly operation: Operation
  readonly document: OpenApiDocument
}

export function ResponseList({ operation, document }: ResponseListProps) {
  return (
    <>
      {Object.entries(operation.responses).map(([status, response]) => (
        <details key={status}>
          <summary>
            <span class={`status ${kindOf(status)}`}>{status}</span> {titleOf(status, response)}
          </summary>
          <Prose text={response.description} />
          <Headers response={response} document={document} />
          <Bodies content={response.content ?? {}} document={document} />
        </details>
      ))}
    </>
  )
}

/** What a status means, for its colour. */
export function kindOf(status: string | number): 'good' | 'caution' | 'bad' {
  const number = Number(status)
  if (number < 400) return 'good'
  return number < 500 ? 'caution' : 'bad'
}

/** Errors are known by their codes, which their examples are named after. */
function titleOf(status: string, { description, content }: Response): string {
  const names = Object.values(content ?? {}).flatMap(({ examples }) => Object.keys(examples ?? {}))
  return kindOf(status) === 'good' || names.length === 0 ? description : names.join(', ')
}

interface ResponseProps {
  readonly response: Response
  readonly document: OpenApiDocument
}

function Headers({ response, document }: ResponseProps) {
  return (
    <dl class="members">
      {Object.entries(response.headers ?? {}).map(([name, { $ref }]) => {
        const header = document.components.headers[nameIn($ref)]
        return (
          header && (
            <Term key={name} name={`${name}: ${shownValue(header.example)}`}>
              <Words text={header.description} />
            </Term>
          )
        )
      })}
    </dl>
  )
}

interface BodiesProps {
  readonly content: Content
  readonly document: OpenApiDocument
}

/** The models of a body, each with its examples. */
export function Bodies({ content, document }: BodiesProps) {
  return (
    <>
      {Object.entries(content).map(([type, { schema, examples }]) => (
        <div key={type}>
          <p>
            <Type schema={schema} /> <span class="note">{type}</span>
          </p>
          {Object.entries(examples ?? {}).map(([name, { $ref }]) => (
            <figure key={name}>
              <figcaption>{name}</figcaption>
              <pre>{shownValue(document.components.examples[nameIn($ref)]?.value)}</pre>
            </figure>
          ))}
        </div>
      ))}
    </>
  )
}
