/** The requests of the load. */

import { anyId, requestText } from './item.js'

export type Headers = Record<string, string>

export interface Request {
  method: string
  path: string
  body?: string
  headers?: Headers
  /** What takes the place of `anyId` or of the token; each value is used by one request only. */
  once?: 'id' | 'token'
}

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

/** A request as it is sent over the wire. */
export function rawRequest({ method, path, body, headers = {} }: Request) {
  const lines = [`${method} ${path} HTTP/1.1`]
  for (const [name, value] of Object.entries({ Host: '127.0.0.1', ...headers }))
    lines.push(`${name}: ${value}`)
  if (body === undefined) return `${lines.join('\r\n')}\r\n\r\n`
  lines.push('Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`)
  return `${lines.join('\r\n')}\r\n\r\n${body}`
}
