/** A server of Redis for one run, which keeps nothing on disk. */

import { spawnSync } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { freePort, isInstalled, scratch, startServer } from './processes.mjs'

/** @param core by default that of the servers. */
export async function startRedis({ core } = {}) {
  const port = await freePort()
  const dir = mkdtempSync(join(scratch, 'redis-'))
  const settings = { port, bind: '127.0.0.1', save: '', appendonly: 'no', dir }
  const program = await startServer({
    port,
    command: 'redis-server',
    args: Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]),
    ...(core !== undefined && { core }),
  })
  return { port, program }
}

/** @returns `undefined` where it is not installed. */
export function redisVersion() {
  if (!isInstalled('redis-server')) return undefined
  const { stdout } = spawnSync('redis-server', ['--version'], { encoding: 'utf8' })
  return `redis ${/v=(\S+)/.exec(stdout)?.[1]}`
}
