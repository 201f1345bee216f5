/** Side `bare`: Node's own HTTP server as it is usually used, each response sent at once. */

import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { benchFolder } from '../lib/install.mjs'
import { startServer } from '../lib/processes.mjs'
import { interfaceRequests } from './interface.mjs'

/** @import { Side } from './sides.mjs' */

/** @type {Side} */
export default {
  name: 'bare',
  about:
    'bare `node:http`: responses with the same headers and bytes, prepared in advance; no routing, token or store',
  token: true,
  requests: interfaceRequests,
  create: async (_server, count) => Array.from({ length: count }, () => randomUUID()),

  /** The server has no items: a list is prepared when it starts. */
  async start({ port, list }) {
    const args = [join(benchFolder, 'peers/bare-server.mjs'), String(port), String(list)]
    return { programs: [await startServer({ port, args })] }
  },
}
