/** The section on errors that most operations share. @module */

import { useState } from 'preact/hooks'
import type { Operation, Response, ResponseGroup } from './openapi.js'
import { Part } from './part.js'
import { Prose } from './prose.js'
import { Examples, ResponseList, type ResponsesProps } from './responses.js'

export function Errors({ operation, document }: Pick<ResponsesProps, 'operation' | 'document'>) {
  const [status, setStatus] = useState(Object.keys(operation.responses)[0] ?? '')
  const responses = { operation, document, status, onStatus: setStatus }
  const { description } = document.info
  return (
    <Part id={operation.operationId} title={operation.summary}>
      <div>
        <Prose text={description.slice(description.lastIndexOf('\n\n') + 2)} />
        <p>Most endpoints share these errors.</p>
      </div>
      <div class="calls">
        <Examples {...responses} />
      </div>
      <div>
        <ResponseList {...responses} />
      </div>
    </Part>
  )
}

/** Separates errors that most operations share from the other responses of each operation. */
export function separateErrors(all: readonly Operation[]) {
  const common: Record<string, Response> = {}
  const operations = all.map((operation): Operation => {
    const own: Record<string, Response> = {}
    const statuses: string[] = []
    for (const [status, response] of Object.entries(operation.responses)) {
      const text = JSON.stringify(response)
      const alike = all.filter(({ responses }) => JSON.stringify(responses[status]) === text)
      if (alike.length < 4) own[status] = response
      else {
        common[status] = response
        statuses.push(status)
      }
    }
    return { ...operation, responses: own, common: statuses }
  })
  const errors: ResponseGroup = { operationId: 'errors', summary: 'Errors', responses: common }
  return { operations, errors }
}
