/** The OpenAPI document of the interface (spec §4.7). @module */

import type { HeaderList } from '../interface/headers.js'
import type { ListGuarantees } from '../interface/openapi.js'
import { endTogether } from '../listener/end-together.js'
import { answerEmpty, startJson } from './answer.js'
import { type EntityTag, entityTag, isNotModified } from './conditions.js'
import type { Handler } from './exchange.js'

export interface DocumentOptions {
  /** Semantic version of the service. */
  readonly version: string
}

interface Document {
  readonly text: Buffer
  readonly tag: EntityTag
  readonly headers: HeaderList
}

/**
 * Serves the document. It is loaded and made on the first request, so that it does not delay startup.
 */
export function createDocumentHandler(
  { version }: DocumentOptions,
  lists: ListGuarantees,
): Handler {
  let document: Promise<Document> | undefined

  return async function answerDocument(exchange) {
    document ??= makeDocument(version, lists).catch((error: unknown) => {
      document = undefined // the next attempt may succeed: the process may have run out of descriptors, say
      throw error
    })
    const { text, tag, headers } = await document
    if (isNotModified(exchange, tag)) {
      answerEmpty(exchange, 304, headers)
    } else if (startJson(exchange, 200, text.length, headers)) {
      endTogether(exchange.response, text)
    }
  }
}

async function makeDocument(version: string, lists: ListGuarantees): Promise<Document> {
  const { openApiDocument } = await import('../interface/openapi.js')
  const text = Buffer.from(JSON.stringify(openApiDocument(version, lists)))
  const tag = entityTag(text)
  return { text, tag, headers: ['ETag', tag, 'Cache-Control', 'no-cache'] }
}
