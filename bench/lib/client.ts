/** The requests of the load. */

import { anyId, requestText } from './item.js'

/**
 * What to request. `once` names what takes the place of `anyId` (or of the token), each used by one
 * request only: the ids of items that exist, or tokens.
 */
export interface Request {
  method: string
  path: string
  body?: string
  once?: 'id' | 'token'
}

export type Headers = Record<string, string>

const items = '/api/v1/items'

/** The requests by their kind; `id` is that of an item. */
export const requests = {
  read: (id: string): Request => ({ method: 'GET', path: `${items}/${id}` }),
  create: (): Request => ({ method: 'POST', path: items, body: requestText() }),
  replace: (id: string): Request => ({
    method: 'PUT',
    path: `${items}/${id}`,
    body: requestText(),
  }),
  delete: (): Request => ({ method: 'DELETE', path: `${items}/${anyId}`, once: 'id' }),
  list: (): Request => ({ method: 'GET', path: items }),
}

export type RawRequest = { method: string; path: string; body?: string; headers?: Headers }

/** A request as it is sent over the wire. */
export function rawRequest({ method, path, body, headers = {} }: RawRequest) {
  const lines = [`${method} ${path} HTTP/1.1`]
  for (const [name, value] of Object.entries({ Host: '127.0.0.1', ...headers }))
    lines.push(`${name}: ${value}`)
  if (body === undefined) return `${lines.join('\r\n')}\r\n\r\n`
  lines.push('Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`)
  return `${lines.join('\r\n')}\r\n\r\n${body}`
}
