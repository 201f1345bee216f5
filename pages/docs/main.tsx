/** The API page: shows the service's OpenAPI document, with a form to try each operation. @module */

import { render } from 'preact'
import { documentPath } from '../../src/interface/paths.js'
import { urlOf } from '../shared/address.js'
import { DocumentPage } from './document-page.js'
import type { OpenApiDocument } from './openapi.js'

load(document.getElementById('page') ?? document.body, document.getElementById('loading'))

/** Renders the page. @param loading placeholder with a message and a hidden link that reloads the page. */
async function load(place: HTMLElement, loading: HTMLElement | null): Promise<void> {
  try {
    const shown = <DocumentPage document={await fetchDocument()} />
    loading?.remove()
    render(shown, place)
  } catch (error) {
    const [, message, reload] = loading?.children ?? []
    message?.replaceChildren(`The description at ${urlOf(documentPath)} cannot be shown: ${error}`)
    reload?.removeAttribute('hidden')
  }
}

async function fetchDocument(): Promise<OpenApiDocument> {
  const response = await fetch(urlOf(documentPath))
  if (!response.ok) throw new Error(`${response.status} ${response.statusText}`)
  const document: unknown = await response.json()
  return document as OpenApiDocument // trusted, because the same service serves this page
}
