/** A server of Redis for one run, which keeps nothing on disk. */

import { spawnSync } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { cores, freePort, isInstalled, scratch, startServer } from './processes.mjs'

/** @param {number} [core] by default that of the servers */
export async function startRedis(core = cores.server) {
  const port = await freePort()
  const dir = mkdtempSync(join(scratch, 'redis-'))
  const settings = { port, bind: '127.0.0.1', save: '', appendonly: 'no', dir }
  const program = await startServer({
    port,
    command: 'redis-server',
    args: Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]),
    core,
  })
  return { port, program }
}

/** The version, or `undefined` where it is not installed. */
export function redisVersion() {
  if (!isInstalled('redis-server')) return undefined
  const { stdout } = spawnSync('redis-server', ['--version'], { encoding: 'utf8' })
  return `redis ${/v=(\S+)/.exec(stdout)?.[1]}`
}
