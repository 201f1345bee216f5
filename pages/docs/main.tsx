/** The API page: shows the service's OpenAPI document, with a form to try each operation. @module */

import { render } from 'preact'
import { documentPath } from '../../src/interface/names.js'
import { Button } from '../shared/components.js'
import { DocumentPage } from './document-page.js'
import type { OpenApiDocument } from './openapi.js'

load(document.getElementById('page') ?? document.body)

async function load(place: HTMLElement): Promise<void> {
  const page = await fetchDocument().then(
    (document) => <DocumentPage document={document} />,
    ({ message }: Error) => <Problem message={message} retry={() => retry(place)} />,
  )
  document.getElementById('loading')?.remove()
  render(page, place)
}

/** Loads the document again. On success, the focus moves to the content, because the "Try again" button is gone. */
async function retry(place: HTMLElement): Promise<void> {
  await load(place)
  document.getElementById('content')?.focus({ preventScroll: true })
}

async function fetchDocument(): Promise<OpenApiDocument> {
  const response = await fetch(documentPath)
  if (!response.ok) throw new Error(`${response.status} ${response.statusText}`)
  const document: unknown = await response.json()
  return document as OpenApiDocument // trusted: the same service serves this page
}

interface ProblemProps {
  readonly message: string
  retry(): void
}

function Problem({ message, retry }: ProblemProps) {
  return (
    <main class="lone">
      <h1>API of the Item Store Service</h1>
      <p role="alert">
        The description at <code>{documentPath}</code> cannot be shown: {message}
      </p>
      <Button onClick={retry}>Try again</Button>
    </main>
  )
}
