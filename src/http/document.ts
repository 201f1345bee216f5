/** The OpenAPI document of the interface (spec §4.7). @module */

import { endResponse } from '../connections/end-response.js'
import type { HeaderList } from '../interface/headers.js'
import { answerEmpty, startJson } from './answer.js'
import { entityTag, isKnown } from './entity-tag.js'
import type { Handler } from './exchange.js'

export interface DocumentOptions {
  /** Semantic version of the service. */
  readonly version: string
}

interface Document {
  readonly text: Buffer
  readonly tag: string
  readonly headers: HeaderList
}

/**
 * Answers with the document. It is loaded and made when it is first asked for, so that the start does
 * not take longer.
 */
export function createDocumentHandler({ version }: DocumentOptions): Handler {
  let document: Promise<Document> | undefined

  return async function answerDocument(exchange) {
    document ??= makeDocument(version).catch((error: unknown) => {
      document = undefined // a file could not be opened, say, which may be different next time
      throw error
    })
    const { text, tag, headers } = await document
    if (isKnown(exchange, tag)) {
      answerEmpty(exchange, 304, headers)
    } else if (startJson(exchange, 200, text.length, headers)) {
      endResponse(exchange.response, text)
    }
  }
}

async function makeDocument(version: string): Promise<Document> {
  const { openApiDocument } = await import('../interface/openapi.js')
  const text = Buffer.from(JSON.stringify(openApiDocument(version)))
  const tag = entityTag(text)
  return { text, tag, headers: ['ETag', tag, 'Cache-Control', 'no-cache'] }
}
