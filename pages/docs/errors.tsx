/** The section of the errors that most operations share. @module */

import { useState } from 'preact/hooks'
import type { OpenApiDocument, ResponseGroup } from './openapi.js'
import { Part } from './part.js'
import { Prose } from './prose.js'
import { Examples, ResponseList } from './responses.js'

interface ErrorsProps {
  readonly errors: ResponseGroup
  readonly document: OpenApiDocument
}

export function Errors({ errors, document }: ErrorsProps) {
  const [status, setStatus] = useState(Object.keys(errors.responses)[0] ?? '')
  const responses = { operation: errors, document, status, onStatus: setStatus }
  const { description } = document.info
  return (
    <Part id={errors.operationId} title={errors.summary}>
      <div>
        <Prose text={description.slice(description.lastIndexOf('\n\n') + 2)} />
        <p>Most endpoints share these errors, and link to those they can return.</p>
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
