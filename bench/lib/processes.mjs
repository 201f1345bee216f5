/**
 * Starts the servers and the load, each kept to its core, and sees to it that none of them, and no
 * temporary file, outlives the run, whichever way it ends.
 */

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

const startDeadline = 30_000
const stopDeadline = 10_000

/** The core of the servers, and the one of the load. */
export const cores = { server: 0, load: 1 }
export const canPin = isInstalled('taskset') && availableParallelism() > 1

/** Folder for everything that a run writes and nobody needs afterwards. */
export const scratch = mkdtempSync(join(tmpdir(), 'item-store-bench-'))

const running = new Set()
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
  rmSync(scratch, { recursive: true, force: true })
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(130))

export function isInstalled(command) {
  return spawnSync('sh', ['-c', `command -v ${command}`]).status === 0
}

/** Starts a program on a core. What it has to say of errors is kept in `child.complaints`. */
export function start({ command, args, core, env = {}, cwd = scratch, stdio }) {
  const [file, ...rest] = canPin
    ? ['taskset', '-c', String(core), command, ...args]
    : [command, ...args]
  // The settings of the caller's own environment must not reach the servers.
  const { PATH, HOME } = process.env
  const child = spawn(file, rest, {
    cwd,
    env: { PATH, HOME, ...env },
    stdio: stdio ?? ['ignore', 'ignore', 'pipe'],
  })
  running.add(child)
  child.complaints = ''
  child.stderr?.setEncoding('utf8').on('data', (text) => {
    child.complaints = (child.complaints + text).slice(-2000)
  })
  child.ended = new Promise((resolve) => {
    child.once('error', (error) => {
      running.delete(child)
      child.complaints += error.message
      resolve()
    })
    child.once('close', () => {
      running.delete(child)
      resolve()
    })
  })
  return child
}

/** Starts a server on a core, and waits until it takes connections on `port`. */
export async function startServer({ port, command = process.execPath, ...program }) {
  const child = start({ core: cores.server, command, ...program })
  const deadline = Date.now() + startDeadline
  while (!(await takesConnections(port))) {
    if (!running.has(child)) throw new Error(`${command} ended: ${child.complaints}`)
    if (Date.now() > deadline) throw new Error(`${command} does not listen`)
    await wait(50)
  }
  return child
}

/** Tells programs to end, and makes sure that they have. */
export async function stop(...children) {
  await Promise.all(
    children.map(async (child) => {
      if (!running.has(child)) return
      child.kill('SIGTERM')
      const deadline = setTimeout(() => child.kill('SIGKILL'), stopDeadline)
      await child.ended
      clearTimeout(deadline)
    }),
  )
}

/** A port of 127.0.0.1 that nothing listens on. */
export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}

function takesConnections(port) {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false))
    socket.on('connect', () => socket.destroy())
  })
}
