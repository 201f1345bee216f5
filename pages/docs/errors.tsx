/** The section on errors that most operations share. @module */

import { useState } from 'preact/hooks'
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
