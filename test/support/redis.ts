/** Starts `redis-server` for a test, on a Unix socket in a temporary folder. */

import { AsyncResource } from 'node:async_hooks'
import { execFile, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe } from 'node:test'
import { promisify } from 'node:util'
import { type OwnProcess, ownProcess } from './process.js'
import { emptyFolder, readText, unlessMissing } from './tools.js'

const program = 'redis-server'
export const isInstalled = spawnSync(program, ['--version']).status === 0

/** Defines tests that need Redis. Without Redis, they are skipped, or fail if `CI=true`. */
export function describeWithRedis(title: string, body: () => void): void {
  describe(title, unlessMissing(!isInstalled && program), body)
}

/** Returns the commands allowed in docs/how-to/redis.md, as arguments for `ACL SETUSER`. */
export function documentedRights(): string[] {
  const [rights = ''] =
    / ACL SETUSER items .*? on every node/s.exec(readText('docs/how-to/redis.md')) ?? []
  return rights.match(/\+\w+/g) ?? []
}

export type OwnRedis = ReturnType<typeof ownRedis>

/** Creates a server without starting it. It stops when the test ends, and by default writes nothing to disk. */
export function ownRedis(...settings: string[]) {
  const folder = emptyFolder()
  const socket = join(folder, 's')
  /** With `bind`, the process ends with the test that created the server, even if another test has started it. */
  const ownProcessHere = AsyncResource.bind(ownProcess)
  let own: OwnProcess | undefined

  /** Sends a command, and returns the reply as `redis-cli` prints it. */
  async function command(...args: string[]): Promise<string> {
    const options = { timeout: 20_000 }
    const { stdout } = await promisify(execFile)('redis-cli', ['-s', socket, ...args], options)
    return stdout.trimEnd()
  }

  return {
    url: `redis+unix://${socket}`,
    folder,
    command,

    /** Starts or restarts the server. Does nothing without `redis-server`. */
    async start(): Promise<void> {
      if (!isInstalled) return
      const defaults = ['--port', '0', '--unixsocket', socket, '--dir', folder, '--save', '']
      const options = { cwd: folder, env: process.env }
      own = ownProcessHere([program, ...defaults, ...settings], options)
      await own.printed(/eady to accept connections/)
    },

    async kill(signal: NodeJS.Signals): Promise<void> {
      own?.child.kill(signal)
      if (signal !== 'SIGSTOP' && signal !== 'SIGCONT') await own?.ended()
    },
  }
}

export async function startedRedis(...settings: string[]): Promise<OwnRedis> {
  const redis = ownRedis(...settings)
  await redis.start()
  return redis
}
