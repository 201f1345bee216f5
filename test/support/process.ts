/** Starts processes that end with the test, waits for them, measures their memory, and finds free ports for them. */

import assert from 'node:assert/strict'
import {
  type ChildProcessByStdio,
  type SpawnSyncOptions,
  spawn,
  spawnSync,
} from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type Server, Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { after } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'

export type Command = readonly [program: string, ...args: string[]]

export type Exit = [code: number | null, signal: NodeJS.Signals | null]

export interface OwnProcess {
  readonly child: ChildProcessByStdio<null, Readable, null>
  /** Waits for output that matches `pattern`, and returns all output so far. @throws {Error} if the process ends. */
  printed(pattern: RegExp): Promise<string>
  /** Waits for the process to exit. After `time` ms, kills it and throws an error. */
  ended(time?: number): Promise<Exit>
}

let endTimeout = 120_000 // ms for a process to exit; shorter after the first timeout

export function ownProcess(
  [program, ...args]: Command,
  options: { cwd: string; env: NodeJS.ProcessEnv },
): OwnProcess {
  const child = spawn(program, args, {
    ...options,
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true, // a process group, so that children of the process can be killed too
  })
  const closed = once(child, 'close')
  closed.catch(() => undefined) // `ended` reports a process that cannot be started
  child.unref()
  if (child.stdout instanceof Socket) child.stdout.unref()
  killWithThisProcess(child)

  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })

  function printed(pattern: RegExp): Promise<string> {
    return until(`${program} printed ${pattern}`, () => {
      if (pattern.test(output)) return output
      const { exitCode, signalCode } = child
      if (exitCode === null && signalCode === null) return undefined
      throw new Error(`${program} ended before it printed ${pattern}: ${signalCode ?? exitCode}`)
    })
  }

  async function ended(time = endTimeout): Promise<Exit> {
    child.ref()
    if (child.stdout instanceof Socket) child.stdout.ref()
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      killGroup(child.pid)
    }, time)
    await closed.finally(() => clearTimeout(timer))
    if (!isLate) return [child.exitCode, child.signalCode]
    if (time === endTimeout) endTimeout = 2_000
    throw new Error(`the process did not end within ${time} ms`)
  }

  after(async () => {
    child.kill('SIGTERM')
    await ended(2_000).catch(() => undefined) // `ended` has killed the process
  })
  return { child, printed, ended }
}

/** Starts a shell that kills the child's process group when this process ends, even by a signal. */
function killWithThisProcess(child: OwnProcess['child']): void {
  const script = 'read -r _; kill -9 "-$1"' // the shell's input is closed when this process ends
  const guard = spawn('sh', ['-c', script, 'sh', String(child.pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true, // Ctrl-C in the terminal must not reach the shell
  })
  guard.unref()
  if (guard.stdin instanceof Socket) guard.stdin.unref()
  child.once('close', () => guard.kill('SIGKILL'))
}

function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // The process group has already ended.
  }
}

/** Returns the standard output of a program that has ended. @throws {AssertionError} if its exit code is not 0. */
export function outputOf(
  program: string,
  args: readonly string[],
  options: SpawnSyncOptions = {},
): string {
  const all = { timeout: 600_000, ...options, encoding: 'utf8' } as const
  const { status, error, stdout, stderr } = spawnSync(program, args, all)
  const says = `${error?.message ?? ''}\n${stdout}${stderr}`
  assert.equal(status, 0, `${program} ${args.join(' ')}: ${says}`)
  return stdout
}

export function residentBytes({ child }: { child: Pick<OwnProcess['child'], 'pid'> }): number {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024
}

const ranges = { first: 20_000, length: 100, count: 120 } // below the ports that Linux assigns to clients

const freePorts = portsOfThisProcess()

/** Returns a free port that no other test file gets while this file runs. */
export async function freePort(): Promise<number> {
  return (await freePorts.next()).value
}

/** Yields free ports of a range. Listens on its first port, so that no other process uses the range. */
async function* portsOfThisProcess(): AsyncGenerator<number, never, void> {
  for (let place = process.pid; ; place += 1) {
    const first = ranges.first + ranges.length * (place % ranges.count)
    const claim = await listening(first)
    claim?.unref()
    for (let port = first + 1; claim && port < first + ranges.length; port += 1) {
      const server = await listening(port)
      if (server === undefined) continue
      server.close()
      await once(server, 'close')
      yield port
    }
  }
}

async function listening(port: number): Promise<Server | undefined> {
  const server = createServer()
  return await listen(server, port).then(
    () => server,
    () => undefined,
  )
}

export async function untilGone(url: string): Promise<void> {
  const isGone = () =>
    fetch(url).then(
      () => false,
      () => true,
    )
  await until(`nothing responds at ${url}`, isGone)
}

export async function portInUse(): Promise<number> {
  const server = createServer()
  after(() => server.close())
  return await listen(server)
}

export async function listen(server: Server, port = 0): Promise<number> {
  await once(server.listen(port, '127.0.0.1'), 'listening')
  const address = server.address()
  assert.ok(address !== null && typeof address === 'object')
  return address.port
}

const timeouts = { usual: 120_000, afterFailure: 2_000 } // ms; short after a failure, so that the test file ends soon
let hasFailed = false

/** @param what names the awaited event in the error message. @throws {Error} after `time` milliseconds. */
export async function until<T>(
  what: string,
  check: () => T | undefined | false | Promise<T | undefined | false>,
  time = timeouts.usual,
): Promise<T> {
  const deadline = Date.now() + (hasFailed ? timeouts.afterFailure : time)
  while (Date.now() < deadline) {
    const answer = await check()
    if (answer !== undefined && answer !== false) return answer
    await delay(20)
  }
  hasFailed = true
  throw new Error(`did not happen: ${what}`)
}
