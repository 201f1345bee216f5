/** Side `bare`: a plain Node.js HTTP server that responds immediately, without doing any work. */

import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { startServer } from '../lib/processes.js'
import type { Side } from './sides.js'

const server = fileURLToPath(new URL('bare-server.js', import.meta.url))

export default {
  name: 'bare',
  about:
    'bare `node:http`: responses with the same headers and bytes, prepared in advance; no routing, token or store',
  create: async (_server, count) => Array.from({ length: count }, () => randomUUID()),

  /** Starts the server. Each GET returns a list of `list` items, or a single item if `list` is 0. */
  start: async ({ port, list }) => [
    await startServer({ port, args: [server, String(port), String(list)] }),
  ],
} satisfies Side
