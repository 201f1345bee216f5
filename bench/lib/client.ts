/** The requests that benchmarks send. */

import { requestText } from './item.js'

export type Headers = Record<string, string>

export interface Request {
  method: string
  path: string
  body?: string
  headers?: Headers
}

/** Path prefix of the interface, which a side may replace by its own. */
export const usualPrefix = '/api/v1'
const items = `${usualPrefix}/items`

export const requests = {
  read: (id: string): Request => ({ method: 'GET', path: `${items}/${id}` }),
  create: (more = 0): Request => ({ method: 'POST', path: items, body: requestText(more) }),
  replace: (id: string, more = 0): Request => ({
    ...{ method: 'PUT', path: `${items}/${id}`, body: requestText(more) },
  }),
  remove: (id: string): Request => ({ method: 'DELETE', path: `${items}/${id}` }),
  list: (): Request => ({ method: 'GET', path: items }),
}

export function rawRequest({ method, path, body = '', headers }: Request) {
  const all: Headers = { Host: '127.0.0.1', ...headers }
  if (body !== '') {
    all['Content-Type'] = 'application/json'
    all['Content-Length'] = String(Buffer.byteLength(body))
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`
}
