/** The documented responses of an operation: each status with its examples, model and headers. @module */

import { useState } from 'preact/hooks'
import { Choice } from '../shared/components.js'
import { Code } from './code.js'
import {
  nameIn,
  type OpenApiDocument,
  type Operation,
  type Response,
  shownValue,
} from './openapi.js'
import { Prose } from './prose.js'
import { Term, Type } from './schemas.js'

interface ResponsesProps {
  readonly operation: Operation
  readonly document: OpenApiDocument
}

/** Shows a tab for each status. The tab of the first status, which means success, is open initially. */
export function Responses({ operation, document }: ResponsesProps) {
  const statuses = Object.keys(operation.responses)
  const [chosen, setChosen] = useState(statuses[0] ?? '')
  return (
    <div class="panel">
      <h3>Example responses</h3>
      <Choice
        title={`Status of the response to ${operation.summary}`}
        texts={statuses}
        chosen={chosen}
        onChoose={setChosen}
        label={(status) => (
          <>
            <i class={kindOf(status)} />
            {status}
          </>
        )}
      />
      {Object.entries(operation.responses).map(([status, response]) => (
        <div key={status} hidden={status !== chosen}>
          <Prose text={response.description} />
          <Examples response={response} document={document} />
          <details>
            <summary>Model and headers</summary>
            {Object.entries(response.content ?? {}).map(([type, { schema }]) => (
              <p key={type}>
                <Type schema={schema} />
              </p>
            ))}
            <Headers response={response} document={document} />
          </details>
        </div>
      ))}
    </div>
  )
}

interface ResponseProps {
  readonly response: Response
  readonly document: OpenApiDocument
}

function Examples({ response, document }: ResponseProps) {
  if (response.content === undefined) return <p class="note">The response has no body.</p>
  return Object.values(response.content).flatMap(({ examples }) =>
    Object.entries(examples ?? {}).map(([name, { $ref }]) => (
      <Code
        key={$ref}
        title={inWords(name)}
        text={shownValue(document.components.examples[nameIn($ref)]?.value)}
      />
    )),
  )
}

/** Returns the CSS class that gives a status its colour. A redirection such as 304 has none. */
export function kindOf(status: string | number): string {
  return ['good', '', 'caution', 'bad'][Math.trunc(Number(status) / 100) - 2] ?? ''
}

/** Splits a camel-case name into words: `itemNotFound` becomes `item not found`. An error code stays unchanged. */
function inWords(name: string): string {
  return name.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
}

function Headers({ response, document }: ResponseProps) {
  return (
    <dl class="members">
      {Object.entries(response.headers ?? {}).map(([name, { $ref }]) => {
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
