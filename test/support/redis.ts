/** A private server: a `redis-server` on a socket in its own folder. */

import { AsyncResource } from 'node:async_hooks'
import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from 'node:test'
import { promisify } from 'node:util'
import { type OwnProcess, ownProcess } from './own-process.js'
import { unlessMissing } from './program-test.js'
import { root } from './tools.js'

const program = 'redis-server'
/** Whether the program is installed. */
export const isInstalled = spawnSync(program, ['--version']).status === 0

/** Tests that need a server: skipped where there is none, except in CI. */
export function describeWithRedis(title: string, body: () => void): void {
  describe(title, unlessMissing(!isInstalled && program), body)
}

/** For `ACL SETUSER`: the commands that docs/reference/redis.md says a user of the server needs. */
export function documentedRights(): string[] {
  const text = readFileSync(join(root, 'docs/reference/redis.md'), 'utf8')
  const [rights = ''] = /^A user of the server with.*?\n\n/ms.exec(text) ?? []
  const commands = [...rights.matchAll(/`([A-Z]+)`/g)].map(([, name]) => `+${name}`)
  return commands.filter((name) => name !== '+ACL')
}

export interface OwnRedis {
  /** For `STORE_URL`. */
  readonly url: string
  readonly folder: string
  /** Sends a command. @returns the reply as `redis-cli` prints it. */
  command(...args: string[]): Promise<string>
  /** Starts it, for the first time or again, and waits until it responds. Does nothing if it is not installed. */
  start(): Promise<void>
  /** Ends it with a signal, or pauses it with `SIGSTOP` until `SIGCONT`. */
  kill(signal: NodeJS.Signals): Promise<void>
  /** @throws {Error} if it is not running. */
  pid(): number
}

/**
 * A server that ends with the test, or the test file, that creates it. It is not started yet, and keeps
 * nothing on disk unless its settings say so.
 */
export function ownRedis(...settings: string[]): OwnRedis {
  return ownRedisBy([], ...settings)
}

/** The same, once it responds. */
export async function startedRedis(...settings: string[]): Promise<OwnRedis> {
  const redis = ownRedis(...settings)
  await redis.start()
  return redis
}

/** @param starter the command that runs the program in its place, such as `unshare -n`. */
export function ownRedisBy(starter: readonly string[], ...settings: string[]): OwnRedis {
  const folder = mkdtempSync(join(tmpdir(), 'item-store-'))
  const socket = join(folder, 's')
  /** Whoever starts it, the process belongs to the test, or the test file, that created the server. */
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
      if (!isInstalled) return
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
      if (pid === undefined) throw new Error(`${program} is not running`)
      return pid
    },
  }
}
