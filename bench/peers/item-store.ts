/** Side `item-store`: this service, started as its users start it, with the default settings. */

import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../test/support/process.js'
import { root } from '../../test/support/tools.js'
import { createItems } from '../lib/connections.js'
import { cores, isInstalled, startServer } from '../lib/processes.js'
import type { Side } from './sides.js'

const itemStore = side('item-store', 'this service: `item-store serve` with default settings', root)
export default itemStore

/** Side `item-store-redis`: its items are on a server of Redis, which does not share the service's core. */
export const itemStoreOnRedis: Side = {
  ...itemStore,
  name: 'item-store-redis',
  about:
    'this service with its items on a redis-server that keeps nothing on disk, on the core of the load or one of its own',
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
    const { args, env } = itemStore.program({ port, secret })
    const url = `redis://127.0.0.1:${redisPort}`
    const service = await startServer({ port, args, env: { ...env, STORE_URL: url } })
    return [service, redis]
  },
}

function redisVersion() {
  if (!isInstalled('redis-server')) return undefined
  const { stdout } = spawnSync('redis-server', ['--version'], { encoding: 'utf8' })
  return `redis ${/v=(\S+)/.exec(stdout)?.[1]}`
}

/** Side `item-store@COMMIT`: the service as of another commit, see `buildRevision`. */
export function itemStoreAt({ commit, folder }: { commit: string; folder: string }) {
  const about = `this service as of commit ${commit}, built and measured in the same run`
  return side(`item-store@${commit}`, about, folder)
}

/** @param folder of the checkout */
function side(name: string, about: string, folder: string) {
  const program = ({ port, secret }: { port: number; secret: string }) => {
    // Its file is not the same in all commits.
    const { bin }: { bin: { 'item-store': string } } = JSON.parse(
      readFileSync(join(folder, 'package.json'), 'utf8'),
    )
    return {
      args: [join(folder, bin['item-store']), 'serve'],
      env: { HOST: '127.0.0.1', PORT: String(port), JWT_SECRET: secret },
    }
  }
  return {
    name,
    about,
    create: createItems,
    program,
    start: async (options: { port: number; secret: string }) => [
      await startServer({ port: options.port, ...program(options) }),
    ],
  }
}
