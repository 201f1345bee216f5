/** The OpenAPI document of the interface (interface §4.7). @module */

import { version } from '../config/package.js'
import type { Config } from '../config/settings.js'
import type { ListGuarantees } from '../interface/openapi.js'
import { answerBytes, answerEmpty } from './answer.js'
import { type EntityTag, entityTag, isNotModified } from './conditions.js'
import type { Handler } from './exchange.js'
import { createForwarded } from './forwarded.js'

/** The document for clients that use one address. */
interface Document {
  readonly tag: EntityTag
  text(): Buffer
}

/** Stands for the address in what is made once for all of them. */
const anyOrigin = '{origin}'

/**
 * Serves the document, with the address that the client used. It is loaded and made on the first request, so
 * that it does not delay startup; the address is put in for each request, as anybody may send any other one.
 */
export function createDocumentHandler(
  config: Pick<Config, 'trustedProxies'>,
  lists: ListGuarantees,
): Handler {
  const { originOf } = createForwarded(config)
  let made: ReturnType<typeof makeDocument> | undefined

  return async function answerDocument(exchange) {
    made ??= makeDocument(lists).catch((error) => {
      made = undefined // the next attempt may succeed: descriptors may have run out
      throw error
    })
    const { tag, text } = (await made)(originOf(exchange.request) ?? '')
    const headers = ['ETag', tag, 'Cache-Control', 'no-cache']
    if (isNotModified(exchange, tag)) return answerEmpty(exchange, 304, headers)
    answerBytes(exchange, 200, text(), ['Content-Type', 'application/json', ...headers])
  }
}

/** @returns what puts an address into the document. */
async function makeDocument(lists: ListGuarantees): Promise<(origin: string) => Document> {
  const { openApiDocument } = await import('../interface/openapi.js')
  const pieces = JSON.stringify(openApiDocument(version, lists, anyOrigin)).split(anyOrigin)
  const ofAll = entityTag(Buffer.from(pieces.join(anyOrigin)))
  return (origin) => ({
    tag: entityTag(Buffer.from(ofAll + origin)),
    text: () => Buffer.from(pieces.join(JSON.stringify(origin).slice(1, -1))),
  })
}
