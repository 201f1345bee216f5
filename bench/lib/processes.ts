/** Starts servers and load generators on separate CPU cores, and kills all processes when the run ends. */

import { type ChildProcess, type StdioOptions, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

interface Program {
  command?: string // Node.js by default
  args: string[]
  core?: number | undefined // number of a CPU core; all cores if `undefined`
  env?: Record<string, string>
  stdio?: StdioOptions
}

export type Child = ChildProcess & { errorOutput: string; ended: Promise<void> }

const startDeadline = 30_000 // milliseconds

export const cores = { server: 0, load: 1 }
export const canPin = isInstalled('taskset') && availableParallelism() > 1

/** Temporary folder in which all started programs run. */
export const scratch = mkdtempSync(join(tmpdir(), 'item-store-bench-'))

const running: Set<Child> = new Set()
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
  // After an interruption, build processes may still be writing to this folder.
  rmSync(scratch, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(130))

export function isInstalled(command: string) {
  return spawnSync('sh', ['-c', `command -v ${command}`]).status === 0
}

export function start({ command = process.execPath, args, core, env, stdio }: Program): Child {
  const pinning = canPin && core !== undefined ? ['taskset', '-c', String(core)] : []
  const [file = '', ...rest] = [...pinning, command, ...args]
  const { PATH, HOME } = process.env // the caller's settings must not reach the servers
  const spawned = spawn(file, rest, {
    cwd: scratch,
    env: { PATH, HOME, ...env },
    stdio: stdio ?? ['ignore', 'ignore', 'pipe'],
  })
  const ended: Promise<void> = new Promise((resolve) => {
    spawned.once('close', () => {
      running.delete(child)
      resolve()
    })
  })
  const child = Object.assign(spawned, { errorOutput: '', ended })
  running.add(child)
  const keepOutput = (text: string) => {
    child.errorOutput = (child.errorOutput + text).slice(-2000)
  }
  child.once('error', ({ message }) => keepOutput(message))
  child.stderr?.setEncoding('utf8').on('data', keepOutput)
  return child
}

export async function startServer({ port, ...program }: Program & { port: number }) {
  const child = start({ core: cores.server, ...program })
  const deadline = Date.now() + startDeadline
  while (!(await isListening(port))) {
    const name = child.spawnargs.join(' ')
    if (!running.has(child)) throw new Error(`${name} ended: ${child.errorOutput}`)
    if (Date.now() > deadline) throw new Error(`${name} does not listen`)
    await wait(10)
  }
  return child
}

export function pinSelf(core: number) {
  if (canPin) spawnSync('taskset', ['-a', '-c', '-p', String(core), String(process.pid)])
}

export async function kill(...children: Child[]) {
  for (const child of children) child.kill('SIGKILL')
  await Promise.all(children.map(({ ended }) => ended))
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('close', (hasFailed) => resolve(!hasFailed))
    socket.once('connect', () => socket.destroy()).once('error', () => undefined)
  })
}
