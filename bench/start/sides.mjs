/**
 * The sides of the start benchmark: each is a `program` that is one Node.js process, with the `path`
 * of its first request.
 */

import { join } from 'node:path'
import { benchFolder } from '../lib/install.mjs'
import fastify from '../peers/fastify.mjs'
import jsonServer from '../peers/json-server.mjs'

const health = '/api/v1/health'

const bare = {
  name: 'bare',
  about: 'bare `node:http`: a few lines that give one response to everything',
  path: health,
  program: ({ port }) => ({ args: [join(benchFolder, 'start/bare-server.mjs'), String(port)] }),
}

/** All sides, `bare` first. @param services this service, as of one or more commits. */
export function sidesWith(services) {
  return [
    bare,
    ...services.map((service) => ({ ...service, path: health })),
    { ...fastify, path: health },
    { ...jsonServer, path: '/items' }, // an empty list: it has no health check
  ]
}
