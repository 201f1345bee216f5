/** Side `item-store`: this service, started as its users start it, with the default settings. */

import { join } from 'node:path'
import { root } from '../../scripts/ready.mjs'
import { startServer } from '../lib/processes.mjs'
import { createItems, interfaceRequests } from './interface.mjs'

export default {
  name: 'item-store',
  about: 'this service: `item-store serve` with default settings',
  token: true,
  requests: interfaceRequests,
  create: createItems,

  async start({ port, secret }) {
    const child = await startServer({
      port,
      args: [join(root, 'dist/src/cli.js'), 'serve'],
      env: { HOST: '127.0.0.1', PORT: String(port), JWT_SECRET: secret },
    })
    return { programs: [child] }
  },
}
