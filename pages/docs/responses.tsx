/** The documented responses of an operation: statuses with error codes, headers and models; and their examples. @module */

import { useState } from 'preact/hooks'
import { Choice } from './choice.js'
import { Code } from './code.js'
import {
  nameIn,
  type OpenApiDocument,
  type Operation,
  type Response,
  shownValue,
} from './openapi.js'
import { Prose, Words } from './prose.js'
import { Term, Type } from './schemas.js'

interface ResponsesProps {
  readonly operation: Operation
  readonly document: OpenApiDocument
}

export function ResponseList({ operation, document }: ResponsesProps) {
  return (
    <>
      {Object.entries(operation.responses).map(([status, response]) => (
        <details key={status}>
          <summary>
            <span class={`status ${kindOf(status)}`}>{status}</span> {titleOf(status, response)}
          </summary>
          <Prose text={response.description} />
          {Object.entries(response.content ?? {}).map(([type, { schema }]) => (
            <p key={type}>
              <Type schema={schema} />
            </p>
          ))}
          <Headers response={response} document={document} />
        </details>
      ))}
    </>
  )
}

export function ResponseExamples({ operation, document }: ResponsesProps) {
  const statuses = Object.keys(operation.responses)
  const [status = '', setStatus] = useState(statuses[0])
  const [media] = Object.values(operation.responses[status]?.content ?? {})
  return (
    <div class="panel">
      <div class="line">
        <h3>Response</h3>
        <Choice
          title={`Status of ${operation.summary}`}
          texts={statuses}
          chosen={status}
          onChoose={setStatus}
        />
      </div>
      {media === undefined && <p class="note">The response has no body.</p>}
      {Object.entries(media?.examples ?? {}).map(([name, { $ref }]) => (
        <Code
          key={name}
          title={name}
          text={shownValue(document.components.examples[nameIn($ref)]?.value)}
        />
      ))}
    </div>
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

interface HeadersProps {
  readonly response: Response
  readonly document: OpenApiDocument
}

function Headers({ response, document }: HeadersProps) {
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
