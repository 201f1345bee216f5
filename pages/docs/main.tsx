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
    ({ message }: Error) => <Problem message={message} />,
  )
  document.getElementById('loading')?.remove()
  render(page, place)
}

async function fetchDocument(): Promise<OpenApiDocument> {
  const response = await fetch(documentPath)
  if (!response.ok) throw new Error(`${response.status} ${response.statusText}`)
  const document: unknown = await response.json()
  return document as OpenApiDocument // trusted: the same service serves this page
}

function Problem({ message }: { message: string }) {
  return (
    <main class="lone">
      <h1>API of the Item Store Service</h1>
      <p role="alert">
        The description at <code>{documentPath}</code> cannot be shown: {message}
      </p>
      <Button onClick={() => location.reload()}>Try again</Button>
    </main>
  )
}
