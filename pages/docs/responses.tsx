/** The documented responses of an operation: statuses with error codes, headers and models; and their examples. @module */

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

/** All responses; their examples too, except for the first response, which is beside the request. */
export function ResponseList({ operation, document }: ResponsesProps) {
  return (
    <>
      {Object.entries(operation.responses).map(([status, response], at) => (
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
          {at > 0 && response.content && (
            <div class="panel">
              <Examples response={response} document={document} />
            </div>
          )}
          <Headers response={response} document={document} />
        </details>
      ))}
    </>
  )
}

/** The first response, which is the one of a request that succeeds. */
export function FirstResponse({ operation, document }: ResponsesProps) {
  const [[status = '', response] = []] = Object.entries(operation.responses)
  return (
    <div class="panel">
      <h3>
        Response <span class={`status ${kindOf(status)}`}>{status}</span>
      </h3>
      {response && <Examples response={response} document={document} />}
    </div>
  )
}

interface ResponseProps {
  readonly response: Response
  readonly document: OpenApiDocument
}

function Examples({ response, document }: ResponseProps) {
  if (response.content === undefined) return <p class="note">The response has no body.</p>
  const titles = titlesOf(response)
  return (
    <>
      {Object.values(response.content).flatMap(({ examples }) =>
        Object.values(examples ?? {}).map(({ $ref }, at) => (
          <Code
            key={$ref}
            title={titles[at] ?? ''}
            text={shownValue(document.components.examples[nameIn($ref)]?.value)}
          />
        )),
      )}
    </>
  )
}

/** What a status means, for its colour. */
export function kindOf(status: string | number): 'good' | 'caution' | 'bad' {
  const number = Number(status)
  if (number < 400) return 'good'
  return number < 500 ? 'caution' : 'bad'
}

function titleOf(status: string, response: Response): string {
  return kindOf(status) === 'good' ? response.description : titlesOf(response).join(', ')
}

/** The names of the examples: error codes, or words, as `item not found` for `itemNotFound`. */
function titlesOf({ content }: Response): string[] {
  return Object.values(content ?? {})
    .flatMap(({ examples }) => Object.keys(examples ?? {}))
    .map((name) => name.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`))
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
