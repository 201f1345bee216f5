/** Side `fastify`: the same interface as a good developer would write it with Fastify's own means. */

import { join } from 'node:path'
import { benchFolder } from '../lib/install.mjs'
import { startServer } from '../lib/processes.mjs'
import { createItems, interfaceRequests } from './interface.mjs'

export default {
  name: 'fastify',
  about:
    'the same interface in plain Fastify: schemas, @fastify/jwt, @fastify/cors, a Map of objects, `reply.send`',
  token: true,
  requests: interfaceRequests,
  create: createItems,

  async start({ port, secret }) {
    const child = await startServer({
      port,
      args: [join(benchFolder, 'peers/fastify-server.mjs')],
      env: { PORT: String(port), JWT_SECRET: secret, NODE_ENV: 'production' },
    })
    return { programs: [child] }
  },
}
