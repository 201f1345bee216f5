/** An engine of one's own: a `redis-server` on a socket in a folder of its own. */

import { AsyncResource } from 'node:async_hooks'
import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from 'node:test'
import { promisify } from 'node:util'
import { type OwnProcess, ownProcess } from './own-process.js'
import { root } from './tools.js'

const program = 'redis-server'
/** Whether the program is installed. */
export const isThere = spawnSync(program, ['--version']).status === 0

/** Tests that need an engine: left out where there is none, but never where changes are checked. */
export function describeWithRedis(title: string, body: () => void): void {
  if (!isThere && process.env.CI === 'true') throw new Error(`${program} is not installed`)
  describe(title, { skip: isThere ? false : `${program} is not installed` }, body)
}

/** For `ACL SETUSER`: the commands that docs/redis.md says a user of the server needs. */
export function documentedRights(): string[] {
  const text = readFileSync(join(root, 'docs/redis.md'), 'utf8')
  const [rights = ''] = /^A user of the server with.*?\n\n/ms.exec(text) ?? []
  const commands = [...rights.matchAll(/`([A-Z]+)`/g)].map(([, name]) => `+${name}`)
  return commands.filter((name) => name !== '+ACL')
}

export interface OwnRedis {
  /** For `STORE_URL`. */
  readonly url: string
  readonly folder: string
  /** Sends it a command. @returns what it answers, as `redis-cli` prints it. */
  command(...args: string[]): Promise<string>
  /** Starts it once it has ended, or for the first time, and waits until it answers; nothing without it. */
  start(): Promise<void>
  /** Ends it with a signal, or stops it for a while with `SIGSTOP`, until `SIGCONT`. */
  kill(signal: NodeJS.Signals): Promise<void>
  /** @throws {Error} unless it runs. */
  pid(): number
}

/**
 * An engine that ends with the test, or the file of tests, that makes it. It is not started yet, and
 * keeps nothing on disk unless its settings say so.
 */
export function ownRedis(...settings: string[]): OwnRedis {
  return ownRedisBy([], ...settings)
}

/** @param starter what starts the program, such as `unshare -n`, and becomes it. */
export function ownRedisBy(starter: readonly string[], ...settings: string[]): OwnRedis {
  const folder = mkdtempSync(join(tmpdir(), 'item-store-'))
  const socket = join(folder, 's')
  /** Whoever starts it: the process is that of the test, or the file, that has made the engine. */
  const ownProcessHere = AsyncResource.bind(ownProcess)
  let own: OwnProcess | undefined

  async function command(...args: string[]): Promise<string> {
    const options = { timeout: 20_000 }
    const { stdout } = await promisify(execFile)('redis-cli', ['-s', socket, ...args], options)
    return stdout.trimEnd()
  }

  return {
    url: `redis+unix://${socket}`,
    folder,
    command,

    async start() {
      if (!isThere) return
      const defaults = ['--port', '0', '--unixsocket', socket, '--dir', folder, '--save', '']
      const [first, ...rest] = [...starter, program, ...defaults, ...settings]
      own = ownProcessHere([first ?? program, ...rest], { cwd: folder, env: process.env })
      await own.printed(/eady to accept connections/)
    },

    async kill(signal) {
      own?.child.kill(signal)
      if (signal !== 'SIGSTOP' && signal !== 'SIGCONT') await own?.ended()
    },

    pid() {
      const pid = own?.child.pid
      if (pid === undefined) throw new Error(`${program} does not run`)
      return pid
    },
  }
}
