/**
 * `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header-07): a create that is sent again makes no second
 * item. The id follows from caller and key, so that nothing has to be remembered, or can be forgotten.
 *
 * @module
 */

import { ApiError } from '../interface/errors.js'
import type { Exchange } from './exchange.js'

/** 1 to 255 visible characters of ASCII, or a string of Structured Fields around them (RFC 9651 §3.3.3). */
const bareKey = /^[\x21-\x7e]{1,255}$/
const quotedKey = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/

/**
 * The name of an item in the namespace of its store: caller and key. Other callers have other items.
 * @returns `undefined` for a request without a key.
 * @throws {ApiError} `BAD_REQUEST` for a value that is not a key.
 */
export function keyedName({ request, token }: Exchange): string | undefined {
  const text = request.headers['idempotency-key']?.toString()
  if (text === undefined) return undefined
  const key = text.startsWith('"') ? quotedKey.exec(text)?.[1]?.replace(/\\(.)/g, '$1') : text
  if (key === undefined || !bareKey.test(key)) {
    throw new ApiError('BAD_REQUEST', 'Idempotency-Key is not 1 to 255 visible ASCII characters')
  }
  return JSON.stringify([token?.sub, key])
}
