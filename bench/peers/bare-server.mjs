/**
 * The server of side `bare`. A small body is given to Node as a string, as Node then writes head and
 * body in one piece, which is faster than a head and a prepared Buffer; a long list is faster as a
 * Buffer.
 */

import { createServer } from 'node:http'
import { itemBytes, itemText } from '../lib/item.mjs'

const [port, listLength] = process.argv.slice(2).map(Number)
const id = '6f1c9a52-3d54-4f0e-9f57-0d7a7a0c9c11'
const sessionId = '0b5f6d0e-5f0a-4f6c-8d0b-7c1f7d1f2a33'

const sharedHeaders = [
  'X-Session-Id',
  sessionId,
  'Access-Control-Allow-Origin',
  '*',
  'Access-Control-Expose-Headers',
  'X-Session-Id, WWW-Authenticate, Allow, Retry-After',
]
const read = envelope('success', 'Item retrieved successfully', itemText(id))
const readHeaders = jsonHeaders(read.length)
const list = Buffer.from(
  envelope('success', 'Items retrieved successfully', `[${itemsText(listLength)}]`),
)
const listHeaders = jsonHeaders(list.length)

createServer((request, response) => {
  switch (request.method) {
    case 'GET':
      if (listLength > 0) response.writeHead(200, listHeaders).end(list)
      else response.writeHead(200, readHeaders).end(read, 'latin1')
      break
    case 'DELETE':
      response.writeHead(204, sharedHeaders).end()
      break
    default:
      echo(request, response)
  }
}).listen(port, '127.0.0.1')

/** Answers a create or replace with the request's own body, padded to the length of the item. */
function echo(request, response) {
  const chunks = []
  request
    .on('data', (chunk) => chunks.push(chunk))
    .on('end', () => {
      const body = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)
      const text =
        request.method === 'POST'
          ? envelope('created', 'Item created successfully', padded(body))
          : envelope('updated', 'Item updated successfully', padded(body))
      response.writeHead(request.method === 'POST' ? 201 : 200, jsonHeaders(text.length))
      response.end(text, 'latin1')
    })
}

/** As long as an item, which is longer than the request by its id. */
function padded(body) {
  return body.latin1Slice().padEnd(itemBytes, ' ')
}

function envelope(status, message, data) {
  return `{"session_id":"${sessionId}","status":"${status}","message":"${message}","data":${data}}`
}

function itemsText(count) {
  return Array.from({ length: count }, () => itemText(id)).join(',')
}

function jsonHeaders(length) {
  return ['Content-Type', 'application/json', 'Content-Length', String(length), ...sharedHeaders]
}
