/** One operation: its parameters, body and responses, and a form to try it. @module */

import type { Operation } from './openapi.js'
import { Prose, Term } from './prose.js'
import { Bodies, ResponseList } from './response-list.js'
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
          {requestBody === undefined ? null : (
            <>
              <h4>Request body</h4>
              <Bodies content={requestBody.content} document={document} />
            </>
          )}
          <h4>Responses</h4>
          <ResponseList operation={operation} document={document} />
        </div>
        <TryIt {...props} />
      </div>
    </section>
  )
}

export function Method({ name }: { name: string }) {
  return <span class={`method ${name.toLowerCase()}`}>{name}</span>
}

function Parameters({ operation }: { operation: Operation }) {
  return (
    <>
      <h4>Parameters</h4>
      <dl class="members">
        {operation.parameters.map(({ name, in: place, required, schema, description }) => (
          <Term key={name} name={name} note={`in the ${place}${required ? ', required' : ''}`}>
            <Type schema={schema} />
            {description && <Prose text={`${description}.`} />}
          </Term>
        ))}
      </dl>
    </>
  )
}
