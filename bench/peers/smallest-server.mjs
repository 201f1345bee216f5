/** The least that a server of Node.js can be: `node:http`, with one response to everything. */

import { createServer } from 'node:http'

const body = JSON.stringify({ status: 'healthy' })
const headers = { 'Content-Type': 'application/json', 'Content-Length': body.length }

createServer((_request, response) => {
  response.writeHead(200, headers).end(body)
}).listen(Number(process.argv[2]), '127.0.0.1')
