/** Server for the side `bare`: plain `node:http`. Short bodies are strings, which Node.js sends along with the head. */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { initialItems, itemBytes, itemText } from '../lib/requests.js'

const id = '6f1c9a52-3d54-4f0e-9f57-0d7a7a0c9c11'
const sessionId = '0b5f6d0e-5f0a-4f6c-8d0b-7c1f7d1f2a33'

const jsonHeaders = [
  ...['Content-Type', 'application/json', 'Cache-Control', 'no-store'],
  ...['X-Session-Id', sessionId],
  ...['Access-Control-Allow-Origin', '*'],
  'Access-Control-Expose-Headers',
  'X-Session-Id, WWW-Authenticate, Allow, Retry-After, Location, ETag, Preference-Applied, Idempotent-Replayed',
  // With an explicit `Connection` header, Node.js adds no `Keep-Alive` header.
  ...['Connection', 'keep-alive'],
]
const etag = ['ETag', '"9Fbt__EJzwqpcOfJtXqhv_QwdaJ2Xde0m84RbcXckU0"']
const createdHeaders = [...jsonHeaders, ...etag, 'Location', `/api/v1/items/${id}`]

const items = Array.from({ length: initialItems }, () => itemText(id)).join(',')
const list = Buffer.from(envelope('success', 'Items retrieved successfully', `[${items}]`))
const item = envelope('success', 'Item retrieved successfully', itemText(id))
const [listHeaders, itemHeaders] = [list.length, item.length].map((length) =>
  withLength(length, [...jsonHeaders, ...etag]),
)

createServer((request, response) => {
  if (request.method === 'POST') echo(request, response)
  else if (request.url === '/api/v1/items') response.writeHead(200, listHeaders).end(list)
  else response.writeHead(200, itemHeaders).end(item, 'latin1')
}).listen(Number(process.env.PORT), '127.0.0.1')

/** Responds with the request body, padded to the length of an item. */
function echo(request: IncomingMessage, response: ServerResponse) {
  const chunks: Buffer[] = []
  request
    .on('data', (chunk) => chunks.push(chunk))
    .on('end', () => {
      const body = (chunks.length === 1 && chunks[0]) || Buffer.concat(chunks)
      const item = body.toString('latin1').padEnd(itemBytes, ' ')
      const text = envelope('created', 'Item created successfully', item)
      response.writeHead(201, withLength(text.length, createdHeaders)).end(text, 'latin1')
    })
}

function envelope(status: string, message: string, data: string) {
  return `{"session_id":"${sessionId}","status":"${status}","message":"${message}","data":${data}}`
}

function withLength(length: number, headers: string[]) {
  return ['Content-Length', String(length), ...headers]
}
