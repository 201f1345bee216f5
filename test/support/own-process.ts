/** Starts child processes that end with the test, or the test file, that started them. */

import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { after } from 'node:test'
import { until } from './until.js'

export type Command = readonly [program: string, ...args: string[]]

export type Exit = [code: number | null, signal: NodeJS.Signals | null]

export interface OwnProcess {
  readonly child: ChildProcessByStdio<null, Readable, null>
  /** Waits for output that matches `pattern`, and returns all output so far. @throws {Error} if the process ends. */
  printed(pattern: RegExp): Promise<string>
  /** Waits for the process to exit. After `time` ms, kills the process and throws an error. */
  ended(time?: number): Promise<Exit>
}

/** Maximum time for a process to exit, in milliseconds; shortened after the first timeout. */
let endTimeout = 120_000

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

/** Starts a shell that kills the child's process group when this process ends, even if a signal kills this process. */
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
