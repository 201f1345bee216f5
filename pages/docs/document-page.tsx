/** The whole page: everything that is in the document. @module */

import { useEffect, useMemo, useState } from 'preact/hooks'
import { documentPath, pagePaths } from '../../src/interface/paths.js'
import { TokenForm } from '../shared/token-form.js'
import {
  type OpenApiDocument,
  type Operation,
  operationsOf,
  pathOfServer,
  shownValue,
} from './openapi.js'
import { Method, OperationSection } from './operation.js'
import { Prose, Words } from './prose.js'
import { modelId, Schemas } from './schemas.js'

/** The build leaves this link out of the HTML for services without the items page. */
const hasItemsPage = window.document.querySelector('link[rel=related]') !== null

export function DocumentPage({ document }: { document: OpenApiDocument }) {
  const { info, tags, components } = document
  const operations = useMemo(() => operationsOf(document), [document])
  const [parameters, setParameters] = useState(() => examplesOf(operations))
  const [isLaidOut, setLaidOut] = useState(true)
  // The address may point to a part of the page that was not there until now.
  useEffect(() => {
    window.document.getElementById(location.hash.slice(1))?.scrollIntoView()
  }, [])

  const shared = {
    document,
    operations,
    parameters,
    isLaidOut,
    onLayOut: setLaidOut,
    onParameters: (changes: Record<string, string>) =>
      setParameters((current) => ({ ...current, ...changes })),
  }
  return (
    <>
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <header class="top">
        <h1>
          {info.title} <span class="note">{info.version}</span>
        </h1>
        <TokenForm />
      </header>
      <div class="columns">
        <nav aria-label="Contents">
          <ul>
            {hasItemsPage && (
              <li>
                <a href={pagePaths.items}>Items</a>
              </li>
            )}
            {operations.map(({ operationId, method, path, summary }) => (
              <li key={operationId}>
                <a href={`#${operationId}`} title={summary}>
                  <Method name={method} /> <span>{shortPath(path, document)}</span>
                </a>
              </li>
            ))}
            <li>
              <a href="#models">Models</a>
            </li>
          </ul>
        </nav>
        <main id="content" tabIndex={-1}>
          <Prose text={info.description} />
          <Authentication document={document} />
          {tags.map(({ name, description }) => (
            <section key={name} aria-labelledby={`tag-${name}`}>
              <h2 id={`tag-${name}`}>{description}</h2>
              {operations
                .filter(({ tags: [first] }) => first === name)
                .map((operation) => (
                  <OperationSection key={operation.operationId} operation={operation} {...shared} />
                ))}
            </section>
          ))}
          <Schemas document={document} />
          <p>
            The same as an OpenAPI document: <a href={documentPath}>{documentPath}</a>.{' '}
            {Object.keys(components.schemas).length} models, {operations.length} operations. The
            documentation in Markdown: <a href={pagePaths.index}>{pagePaths.index}</a>.
          </p>
        </main>
      </div>
    </>
  )
}

function Authentication({ document }: { document: OpenApiDocument }) {
  return (
    <section aria-labelledby="authentication">
      <h2 id="authentication">Authentication</h2>
      {Object.entries(document.components.securitySchemes).map(([name, { description }]) => (
        <p key={name}>
          <Words text={description} /> Its claims:{' '}
          <a href={`#${modelId('TokenPayload')}`}>
            <code>TokenPayload</code>
          </a>
          .
        </p>
      ))}
      <p>
        Enter it once, in the field at the top of the page. It stays in this tab and is sent only to
        this service.
      </p>
    </section>
  )
}

/** The examples of what every request has, by name, which the forms start with: not of headers. */
function examplesOf(operations: readonly Operation[]): Record<string, string> {
  const parameters = operations.flatMap(({ parameters }) => parameters)
  const required = parameters.filter(({ required }) => required)
  return Object.fromEntries(required.map(({ name, example = '' }) => [name, shownValue(example)]))
}

function shortPath(path: string, document: OpenApiDocument): string {
  return path.slice(pathOfServer(document).length)
}
