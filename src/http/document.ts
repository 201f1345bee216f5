/** The OpenAPI document of the interface (spec §4.7). @module */

import type { Config } from '../config/settings.js'
import type { HeaderList } from '../interface/headers.js'
import type { ListGuarantees } from '../interface/openapi.js'
import { endTogether } from '../listener/together.js'
import { answerEmpty, startJson } from './answer.js'
import { type EntityTag, entityTag, isNotModified } from './conditions.js'
import type { Handler } from './exchange.js'
import { createForwarded } from './forwarded.js'

interface Document {
  readonly text: Buffer
  readonly tag: EntityTag
  readonly headers: HeaderList
}

/**
 * Serves the document, with the address that the client used. It is loaded and made on the first request, so
 * that it does not delay startup, and again when another address is used.
 */
export function createDocumentHandler(
  { version, ...config }: Pick<Config, 'trustedProxies'> & { version: string },
  lists: ListGuarantees,
): Handler {
  const { originOf } = createForwarded(config)
  let latest: { readonly origin: string; readonly document: Promise<Document> } | undefined

  return async function answerDocument(exchange) {
    const origin = originOf(exchange.request) ?? ''
    if (latest?.origin !== origin) {
      const made = { origin, document: makeDocument(version, lists, origin) }
      latest = made
      made.document.catch(() => {
        if (latest === made) latest = undefined // the next attempt may succeed: descriptors may have run out
      })
    }
    const { text, tag, headers } = await latest.document
    if (isNotModified(exchange, tag)) {
      answerEmpty(exchange, 304, headers)
    } else if (startJson(exchange, 200, text.length, headers)) {
      endTogether(exchange.response, text)
    }
  }
}

async function makeDocument(
  version: string,
  lists: ListGuarantees,
  origin: string,
): Promise<Document> {
  const { openApiDocument } = await import('../interface/openapi.js')
  const text = Buffer.from(JSON.stringify(openApiDocument(version, lists, origin)))
  const tag = entityTag(text)
  return { text, tag, headers: ['ETag', tag, 'Cache-Control', 'no-cache'] }
}
