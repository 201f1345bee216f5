/** The section on an operation: its description, parameters, body and responses, next to code and examples. @module */

import { useState } from 'preact/hooks'
import { Calls, type CallsProps } from './calls.js'
import { byPlace, type Parameter } from './openapi.js'
import { Part } from './part.js'
import { Prose } from './prose.js'
import { ResponseList } from './responses.js'
import { Body, Term } from './schemas.js'

export function OperationSection(props: Omit<CallsProps, 'status' | 'onStatus'>) {
  const { operation, document } = props
  const { operationId, method, path, summary, description, parameters, requestBody } = operation
  const { inHead, others } = byPlace(parameters)
  // A successful response comes first in the OpenAPI document.
  const [status, setStatus] = useState(Object.keys(operation.responses)[0] ?? '')
  const responses = { operation, document, status, onStatus: setStatus }
  return (
    <Part id={operationId} title={summary}>
      <div>
        <p class="path">
          <Method name={method} /> <code>{path}</code>
        </p>
        <Prose text={description} />
        {others.length > 0 && (
          <>
            <h3>Parameters</h3>
            <Parameters parameters={others} />
          </>
        )}
        {requestBody && <Body content={requestBody.content} document={document} />}
        {inHead.length > 0 && (
          <details>
            <summary>Conditional and repeatable requests</summary>
            <Parameters parameters={inHead} />
          </details>
        )}
      </div>
      <Calls {...props} {...responses} />
      <div>
        <ResponseList {...responses} />
      </div>
    </Part>
  )
}

export function Method({ name }: { name: string }) {
  return <span class={`tag ${name.toLowerCase()}`}>{name}</span>
}

function Parameters({ parameters }: { parameters: readonly Parameter[] }) {
  return (
    <dl class="members">
      {parameters.map(({ name, in: place, required, schema, description }) => (
        <Term
          key={name}
          name={name}
          schema={schema}
          required={required}
          note={` · in the ${place}`}
        >
          {description && <Prose text={`${description}.`} />}
        </Term>
      ))}
    </dl>
  )
}
