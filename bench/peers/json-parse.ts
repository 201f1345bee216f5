/** Server for the side `json-parse`: items are objects in a `Map`, and tokens are not checked. */

import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'

const items: Map<string, object> = new Map()

createServer((request, response) => {
  answer(request, response).catch(() => response.writeHead(500).end())
}).listen(Number(process.argv[2]), '127.0.0.1')

async function answer(request: IncomingMessage, response: ServerResponse) {
  const [, , , kind, id = ''] = (request.url ?? '').split('/')
  if (kind === 'health') return send(response, 200, { status: 'healthy' })
  if (request.method === 'POST') {
    const { data } = JSON.parse(await text(request))
    const item = { id: randomUUID(), ...data }
    items.set(item.id, item)
    return send(response, 201, { data: item })
  }
  if (id === '') return send(response, 200, { data: [...items.values()] })
  const item = items.get(id)
  if (request.method === 'DELETE') items.delete(id)
  return send(response, item === undefined ? 404 : 200, { data: item })
}

function send(response: ServerResponse, status: number, body: object) {
  const bytes = Buffer.from(JSON.stringify(body))
  const headers = { 'Content-Type': 'application/json', 'Content-Length': bytes.length }
  response.writeHead(status, headers).end(bytes)
}
