/** The content of the API page, generated from the OpenAPI document. @module */

import { useEffect, useState } from 'preact/hooks'
import { prefix } from '../../src/interface/paths.js'
import { urlOf } from '../shared/address.js'
import { Brand } from '../shared/components.js'
import { store, stored } from '../shared/storage.js'
import { Contents, ItemsLink } from './contents.js'
import { Errors, separateErrors } from './errors.js'
import { Introduction } from './introduction.js'
import { type OpenApiDocument, type Operation, operationsOf, shownValue } from './openapi.js'
import { OperationSection } from './operation.js'
import { type Language, languages } from './samples.js'
import { Schemas } from './schemas.js'
import { TokenButton } from './token-button.js'

export function DocumentPage({ document }: { document: OpenApiDocument }) {
  const [{ operations, errors }] = useState(() =>
    separateErrors(operationsOf(document, urlOf(prefix))),
  )
  const [parameters, setParameters] = useState(() => examplesOf(operations))
  const [language, setLanguage] = useState(storedLanguage)
  // The section in the URL did not exist yet when the browser loaded the page.
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
          <ItemsLink />
          <h1>
            API <span class="note">{document.info.version}</span>
          </h1>
        </nav>
        <Contents operations={operations} />
        <TokenButton />
      </header>
      <main id="content" tabIndex={-1}>
        <Introduction document={document} />
        {operations.map((operation) => (
          <OperationSection key={operation.operationId} operation={operation} {...shared} />
        ))}
        <Errors operation={errors} document={document} />
        <Schemas document={document} />
      </main>
    </>
  )
}

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
