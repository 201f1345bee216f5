/** The API page: the OpenAPI document of the service, with a form to try each operation. @module */

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

/** When this succeeds, the button that had the focus is gone, so the focus moves to the content. */
async function retry(place: HTMLElement): Promise<void> {
  await load(place)
  document.getElementById('content')?.focus({ preventScroll: true })
}

async function fetchDocument(): Promise<OpenApiDocument> {
  const response = await fetch(documentPath)
  if (!response.ok) throw new Error(`${response.status} ${response.statusText}`)
  const document: unknown = await response.json()
  return document as OpenApiDocument // the service that serves this page has made it
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
