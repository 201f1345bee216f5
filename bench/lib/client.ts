/** The requests that benchmarks send. */

import { anyId, requestText } from './item.js'

export type Headers = Record<string, string>

export interface Request {
  method: string
  path: string
  body?: string
  headers?: Headers
  /** Kind of value that has to be different each time the request is sent. */
  once?: 'id' | 'token'
}

const items = '/api/v1/items'

/** In `delete`, `anyId` stands for a different id each time: an item can be deleted only once. */
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

export function rawRequest({ method, path, body, headers = {} }: Request) {
  const lines = [`${method} ${path} HTTP/1.1`]
  for (const [name, value] of Object.entries({ Host: '127.0.0.1', ...headers }))
    lines.push(`${name}: ${value}`)
  if (body === undefined) return `${lines.join('\r\n')}\r\n\r\n`
  lines.push('Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`)
  return `${lines.join('\r\n')}\r\n\r\n${body}`
}
