/** The first two sections of the API page: what the service is, how to start, how requests are authorized. @module */

import { documentPath, pagePaths, prefix } from '../../src/interface/paths.js'
import { urlOf } from '../shared/address.js'
import { Panel } from './code.js'
import type { OpenApiDocument } from './openapi.js'
import { Part } from './part.js'
import { Prose } from './prose.js'
import { quickStart } from './samples.js'

export function Introduction({ document }: { document: OpenApiDocument }) {
  const { title, description } = document.info
  const href = urlOf(prefix)
  const end = description.indexOf('\n\n')
  return (
    <>
      <Part id="introduction" title={title}>
        <div>
          <Prose text={`${description.slice(0, end)}\n\nBase URL: \`${href}\``} />
          <p>
            For programs: the <a href={urlOf(documentPath)}>OpenAPI document</a> and the{' '}
            <a href={urlOf(pagePaths.index)}>documentation in Markdown</a>.
          </p>
          <details>
            <summary>Numbers and methods in detail</summary>
            <Prose text={description.slice(end + 2, description.lastIndexOf('\n\n'))} />
          </details>
        </div>
        <div class="calls">
          <Panel title="Quick start" text={quickStart(href)} />
        </div>
      </Part>
      <Part id="authentication" title="Authentication">
        <div>
          <Prose text={document.components.securitySchemes.bearer.description} />
          <p>Enter it once, at the top of this page.</p>
        </div>
        <div class="calls">
          <Panel title="Header" text="Authorization: Bearer $TOKEN" />
        </div>
      </Part>
    </>
  )
}
