/** The benchmarked server `item-store`: this service with default settings, started as in its container image. */

import { spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../test/support/process.js'
import { root } from '../../test/support/tools.js'
import { createItems } from '../lib/connections.js'
import { cores, isInstalled, startServer } from '../lib/processes.js'
import type { Side } from './sides.js'

const itemStore = side(
  'item-store',
  'this service: `node --v8-pool-size=1 dist/cli.js serve`, as in its image',
  root,
)
export default itemStore

/** The benchmarked server `item-store-redis`: this service, with its items on a Redis server on another core. */
export const itemStoreOnRedis: Side = {
  ...itemStore,
  name: 'item-store-redis',
  about:
    'this service with its items on a redis-server without persistence, on its own core or on that of the load generator',
  skips: ['create-pipelined'],
  version: redisVersion,

  async start({ port, secret }) {
    const redisPort = await freePort()
    const redis = await startServer({
      port: redisPort,
      command: 'redis-server',
      args: [
        ...['--port', String(redisPort), '--bind', '127.0.0.1'],
        ...['--save', '', '--appendonly', 'no'],
      ],
      core: availableParallelism() > 2 ? 2 : cores.load,
    })
    const settings = { STORE_URL: `redis://127.0.0.1:${redisPort}` }
    return [...(await itemStore.start({ port, secret, list: 0, settings })), redis]
  },
}

function redisVersion() {
  if (!isInstalled('redis-server')) return undefined
  const { stdout } = spawnSync('redis-server', ['--version'], { encoding: 'utf8' })
  return `redis ${/v=(\S+)/.exec(stdout)?.[1]}`
}

/** Returns a build of this service at a given commit, for the comparison (see `buildRevision`). */
export function itemStoreAt({ commit, folder }: { commit: string; folder: string }) {
  const about = `this service at commit ${commit}, built and measured in the same run`
  return side(`item-store@${commit}`, about, folder)
}

function side(name: string, about: string, folder: string): Side {
  return {
    name,
    about,
    create: createItems,
    start: async ({ port, secret, settings }) => {
      const env = { HOST: '127.0.0.1', PORT: String(port), JWT_SECRET: secret, ...settings }
      // The container image, the systemd unit and `npm start` also set this V8 flag.
      const args = ['--v8-pool-size=1', join(folder, 'dist/cli.js'), 'serve']
      return [await startServer({ port, args, env })]
    },
  }
}
