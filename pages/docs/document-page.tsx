/** The content of the API page, made from the OpenAPI document. @module */

import { useEffect, useState } from 'preact/hooks'
import { documentPath, pagePaths } from '../../src/interface/names.js'
import { Brand, TokenForm } from '../shared/components.js'
import { store, stored } from '../shared/storage.js'
import { Contents } from './contents.js'
import {
  baseUrlOf,
  type OpenApiDocument,
  type Operation,
  operationsOf,
  shownValue,
} from './openapi.js'
import { OperationSection } from './operation.js'
import { Part } from './part.js'
import { Prose } from './prose.js'
import { type Language, languages } from './samples.js'
import { Schemas } from './schemas.js'

/** Whether the service also serves the items page. If not, the HTML of this page has no link to it. */
const hasItemsPage = window.document.querySelector('link[rel=related]') !== null

export function DocumentPage({ document }: { document: OpenApiDocument }) {
  const { info } = document
  const [operations] = useState(() => operationsOf(document))
  const [parameters, setParameters] = useState(() => examplesOf(operations))
  const [language, setLanguage] = useState(storedLanguage)
  // Goes to the section that the address names after the `#`. The browser could not, as the section was missing.
  useEffect(() => {
    if (location.hash) location.replace(location.hash)
  }, [])

  const shared = {
    document,
    operations,
    parameters,
    language,
    onLanguage(chosen: Language) {
      setLanguage(chosen)
      store('localStorage', languageKey, chosen)
    },
    onParameters: (changes: Record<string, string>) =>
      setParameters((current) => ({ ...current, ...changes })),
  }
  return (
    <>
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <header class="line bar">
        <Brand />
        <nav class="line" aria-label="Pages">
          {hasItemsPage && <a href={pagePaths.items}>Items</a>}
          <h1>
            API <span class="note">{info.version}</span>
          </h1>
        </nav>
        <TokenForm />
      </header>
      <div class="columns">
        <Contents document={document} operations={operations} />
        <main id="content" tabIndex={-1}>
          <Part id="introduction" title={info.title}>
            <div>
              <Prose text={info.description} />
              <p>
                For programs: the <a href={documentPath}>OpenAPI document</a>, and{' '}
                <a href={pagePaths.index}>the documentation in Markdown</a>.
              </p>
            </div>
            <div class="calls panel">
              <h3>Base URL</h3>
              <pre>{baseUrlOf(document).href}</pre>
            </div>
          </Part>
          <Part id="authentication" title="Authentication">
            <div>
              <Prose text={document.components.securitySchemes.bearer.description} />
              <p>
                Enter it once, in the field at the top of the page. It stays in this tab and is sent
                only to this service.
              </p>
            </div>
            <div class="calls panel">
              <h3>Header</h3>
              <pre>Authorization: Bearer $TOKEN</pre>
            </div>
          </Part>
          {operations.map((operation) => (
            <OperationSection key={operation.operationId} operation={operation} {...shared} />
          ))}
          <Schemas document={document} />
        </main>
      </div>
    </>
  )
}

/** Returns the examples of required parameters by name. The forms start with them. */
function examplesOf(operations: readonly Operation[]): Record<string, string> {
  const parameters = operations.flatMap(({ parameters }) => parameters)
  const required = parameters.filter(({ required }) => required)
  return Object.fromEntries(required.map(({ name, example = '' }) => [name, shownValue(example)]))
}

const languageKey = 'item-store-language'

function storedLanguage(): Language {
  const language = stored('localStorage', languageKey)
  return languages.find((each) => each === language) ?? 'curl'
}
