/** The benchmarked server `json-parse`: bare `node:http` with `JSON.parse` and `JSON.stringify`. */

import { fileURLToPath } from 'node:url'
import { createItems } from '../lib/connections.js'
import { startServer } from '../lib/processes.js'
import type { Side } from './sides.js'

const server = fileURLToPath(new URL('json-parse-server.js', import.meta.url))

export default {
  name: 'json-parse',
  about: 'bare `node:http` with `JSON.parse`, `JSON.stringify` and a `Map`; no tokens',
  create: createItems,
  start: async ({ port }) => [await startServer({ port, args: [server, String(port)] })],
} satisfies Side
