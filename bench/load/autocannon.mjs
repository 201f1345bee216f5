/** Sends the requests of one turn with autocannon, where wrk is not installed. */

import { readFileSync, writeSync } from 'node:fs'
import autocannon from 'autocannon'
import { anyId } from '../lib/item.mjs'

const { port, headers, requests, lines, connections, seconds, patience } = JSON.parse(
  readFileSync(process.argv[2], 'utf8'),
)
const expected = new Set(requests.map(({ status }) => status))
const count = { answers: 0, refused: 0, broken: 0 }
let line = 0

const started = performance.now()
autocannon(
  {
    url: `http://127.0.0.1:${port}`,
    connections,
    duration: seconds,
    timeout: patience,
    requests: requests.map(({ method, path, body, lines: kind }) => ({
      method,
      path,
      body,
      headers: { ...headers, ...(body && { 'Content-Type': 'application/json' }) },
      ...(kind && { setupRequest: (request) => withNextLine(request, kind) }),
    })),
  },
  () => end(false),
)
  .on('response', (_client, status) => {
    count.answers += 1
    if (!expected.has(status)) count.refused += 1
  })
  .on('reqError', () => {
    count.broken += 1
  })

function withNextLine(request, kind) {
  // autocannon itself would continue for a while, without lines to send.
  if (line === lines.length) end(true)
  const text = lines[line]
  line += 1
  if (kind === 'token') {
    return { ...request, headers: { ...request.headers, Authorization: `Bearer ${text}` } }
  }
  return {
    ...request,
    path: request.path.replace(anyId, text),
    body: request.body?.replace(anyId, text),
  }
}

function end(ranOut) {
  const taken = (performance.now() - started) / 1000
  writeSync(1, JSON.stringify({ ...count, seconds: taken, ranOut }))
  process.exit()
}
