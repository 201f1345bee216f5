/** One operation: its parameters, body and responses, and a form to try it. @module */

import { nameIn, type OpenApiDocument, type Operation, shownValue } from './openapi.js'
import { Prose, Words } from './prose.js'
import { ResponseList } from './response-list.js'
import { Type } from './schemas.js'
import { TryIt, type TryItProps } from './try-it.js'

export function OperationSection(props: TryItProps) {
  const { operation, document } = props
  const { operationId, method, path, summary, description, parameters, requestBody } = operation
  return (
    <section class="operation" id={operationId} aria-labelledby={`${operationId}-title`}>
      <h3 id={`${operationId}-title`}>
        <Method name={method} /> <code>{path}</code>
      </h3>
      <p>
        <strong>{summary}.</strong> {operation.needsToken ? 'Needs a token.' : null}
      </p>
      <Prose text={description} />
      <div class="halves">
        <div>
          {parameters.length > 0 ? <Parameters operation={operation} /> : null}
          {requestBody === undefined ? null : <Body operation={operation} document={document} />}
          <h4>Responses</h4>
          <ResponseList operation={operation} document={document} />
        </div>
        <TryIt {...props} />
      </div>
    </section>
  )
}

interface MethodProps {
  readonly name: string
}

export function Method({ name }: MethodProps) {
  return <span class={`method ${name.toLowerCase()}`}>{name}</span>
}

interface OperationProps {
  readonly operation: Operation
}

function Parameters({ operation }: OperationProps) {
  return (
    <>
      <h4>Parameters</h4>
      <dl class="members">
        {operation.parameters.map(({ name, in: place, required, schema, description }) => (
          <div key={name}>
            <dt>
              <code>{name}</code>
              <span class="note">
                in the {place}
                {required ? ', required' : ''}
              </span>
            </dt>
            <dd>
              <Type schema={schema} />
              {description === undefined ? null : (
                <p>
                  <Words text={description} />.
                </p>
              )}
            </dd>
          </div>
        ))}
      </dl>
    </>
  )
}

interface BodyProps extends OperationProps {
  readonly document: OpenApiDocument
}

function Body({ operation, document }: BodyProps) {
  return (
    <>
      <h4>Request body</h4>
      {Object.entries(operation.requestBody?.content ?? {}).map(([type, { schema, examples }]) => (
        <div key={type}>
          <p>
            <Type schema={schema} /> <span class="note">{type}</span>
          </p>
          {Object.values(examples ?? {}).map(({ $ref }) => (
            <pre key={$ref}>{shownValue(document.components.examples[nameIn($ref)]?.value)}</pre>
          ))}
        </div>
      ))}
    </>
  )
}
