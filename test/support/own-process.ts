/** Child processes that end with the test, or the file of tests, that started them. */

import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { after } from 'node:test'
import { until } from './until.js'

export type Command = readonly [program: string, ...args: string[]]

/** How a process ended: its exit code, or the signal that ended it. */
export type Exit = [code: number | null, signal: NodeJS.Signals | null]

export interface OwnProcess {
  readonly child: ChildProcessByStdio<null, Readable, null>
  /**
   * Waits until all that it has printed so far matches, and gives that.
   * @throws {Error} when the process ends before, or does not print it in time.
   */
  printed(pattern: RegExp): Promise<string>
  /**
   * Waits until the process has ended and all of its output was read.
   * @param time maximum time to wait, in milliseconds.
   * @throws {Error} when it does not end in time; it is killed then.
   */
  ended(time?: number): Promise<Exit>
}

/** Time for a process to end by itself once its test is over, in milliseconds. */
const cleanUpTime = 2_000

/** Time for one that a test waits for: short once another did not end, so that the file ends. */
let patience = 20_000

/**
 * Starts a process that ends with its test whatever happens: when the test fails or times out, when
 * the file of tests throws while it is loaded, when the tests are killed. By itself it does not keep
 * the tests from ending.
 */
export function ownProcess(
  [program, ...args]: Command,
  options: { cwd: string; env: NodeJS.ProcessEnv },
): OwnProcess {
  const child = spawn(program, args, {
    ...options,
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true, // a group of its own, so that what it starts can be killed with it
  })
  const closed = once(child, 'close')
  closed.catch(() => undefined) // could not be started, which `ended` tells
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

  async function ended(time = patience): Promise<Exit> {
    child.ref()
    if (child.stdout instanceof Socket) child.stdout.ref()
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      killGroup(child.pid)
    }, time)
    await closed.finally(() => clearTimeout(timer))
    if (!isLate) return [child.exitCode, child.signalCode]
    if (time === patience) patience = cleanUpTime
    throw new Error(`the process did not end within ${time} ms`)
  }

  after(async () => {
    child.kill('SIGTERM')
    await ended(cleanUpTime).catch(() => undefined)
  })
  return { child, printed, ended }
}

/**
 * Has a shell wait for the end of this process, however it comes about, and kill the child's group.
 * An `exit` listener would not do: a signal ends a process without it.
 */
function killWithThisProcess(child: OwnProcess['child']): void {
  const script = 'read -r _; kill -9 "-$1"' // the end of the standard input is this process's end
  const guard = spawn('sh', ['-c', script, 'sh', String(child.pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true, // Ctrl-C in the terminal is not for it
  })
  guard.unref()
  if (guard.stdin instanceof Socket) guard.stdin.unref()
  child.once('close', () => guard.kill('SIGKILL'))
}

function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // It has ended meanwhile.
  }
}
