/** Side `fastify`: the same interface as a good developer would write it in idiomatic Fastify. */

import { join } from 'node:path'
import { benchFolder } from '../lib/install.mjs'
import { startServer } from '../lib/processes.mjs'
import { packageVersion } from '../lib/versions.mjs'
import { createItems, interfaceRequests } from './interface.mjs'

export default {
  name: 'fastify',
  about:
    'the same interface in plain Fastify: schemas, @fastify/jwt, @fastify/cors, a Map of objects, `reply.send`',
  token: true,
  requests: interfaceRequests,
  create: createItems,
  program,
  version: () => `fastify ${packageVersion('fastify')}`,

  async start({ port, secret }) {
    return { programs: [await startServer({ port, ...program({ port, secret }) })] }
  },
}

function program({ port, secret }) {
  return {
    args: [join(benchFolder, 'peers/fastify-server.mjs')],
    env: { PORT: String(port), JWT_SECRET: secret, NODE_ENV: 'production' },
  }
}
