/** The requests of the load. */

import { anyId, requestText } from './item.mjs'

/**
 * What to request. `once` names what takes the place of `anyId` (or of the token), each used by one
 * request only: the ids of items that exist, or tokens.
 * @typedef {object} Request
 * @property {string} method
 * @property {string} path
 * @property {string} [body]
 * @property {'id' | 'token'} [once]
 */

/** @typedef {Record<string, string>} Headers */

const items = '/api/v1/items'

/** The requests by their kind; `id` is that of an item. */
export const requests = {
  /** @type {(id: string) => Request} */
  read: (id) => ({ method: 'GET', path: `${items}/${id}` }),
  /** @type {() => Request} */
  create: () => ({ method: 'POST', path: items, body: requestText() }),
  /** @type {(id: string) => Request} */
  replace: (id) => ({ method: 'PUT', path: `${items}/${id}`, body: requestText() }),
  /** @type {() => Request} */
  delete: () => ({ method: 'DELETE', path: `${items}/${anyId}`, once: 'id' }),
  /** @type {() => Request} */
  list: () => ({ method: 'GET', path: items }),
}

/** @typedef {{ method: string, path: string, body?: string, headers?: Headers }} RawRequest */

/**
 * A request as it is sent over the wire.
 * @param {RawRequest} request
 */
export function rawRequest({ method, path, body, headers = {} }) {
  const lines = [`${method} ${path} HTTP/1.1`, 'Host: 127.0.0.1']
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`)
  if (body === undefined) return `${lines.join('\r\n')}\r\n\r\n`
  lines.push('Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`)
  return `${lines.join('\r\n')}\r\n\r\n${body}`
}
