/**
 * Starts the servers and the load, each pinned to its core, and makes sure that no process and no
 * temporary file outlives the run, however it ends.
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

/** The core of the servers, and that of the load. */
export const cores = { server: 0, load: 1 }
export const canPin = isInstalled('taskset') && availableParallelism() > 1

/** Folder for everything that a run writes and that nobody needs afterwards. */
export const scratch = mkdtempSync(join(tmpdir(), 'item-store-bench-'))

const running = new Set()
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
  removeScratch(50)
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(130))

/** Tries again for a while: what an interrupted build has started may still be writing there. */
function removeScratch(tries) {
  try {
    rmSync(scratch, { recursive: true, force: true })
  } catch (error) {
    if (tries === 1) throw error
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100) // milliseconds
    removeScratch(tries - 1)
  }
}

export function isInstalled(command) {
  return spawnSync('sh', ['-c', `command -v ${command}`]).status === 0
}

/** Starts a program, on a core if one is given. The end of its standard error is kept in `child.errorOutput`. */
export function start({ command = process.execPath, args, core, env = {}, cwd = scratch, stdio }) {
  const [file, ...rest] =
    canPin && core !== undefined
      ? ['taskset', '-c', String(core), command, ...args]
      : [command, ...args]
  // The settings in the caller's own environment must not reach the servers.
  const { PATH, HOME } = process.env
  const child = spawn(file, rest, {
    cwd,
    env: { PATH, HOME, ...env },
    stdio: stdio ?? ['ignore', 'ignore', 'pipe'],
  })
  running.add(child)
  child.errorOutput = ''
  child.stderr?.setEncoding('utf8').on('data', (text) => {
    child.errorOutput = (child.errorOutput + text).slice(-2000)
  })
  child.ended = new Promise((resolve) => {
    child.once('error', (error) => {
      running.delete(child)
      child.errorOutput += error.message
      resolve()
    })
    child.once('close', () => {
      running.delete(child)
      resolve()
    })
  })
  return child
}

/** Starts a server on its core, and waits until it accepts connections on `port`. */
export async function startServer({ port, ...program }) {
  const child = start({ core: cores.server, ...program })
  const socket = await connectionTo(child, port)
  socket.destroy()
  return child
}

/** Keeps this process, with its threads, off the servers' core. */
export function pinSelf(core) {
  if (canPin) spawnSync('taskset', ['-a', '-c', '-p', String(core), String(process.pid)])
}

/** Tries to connect to `child` on `port`, every millisecond, and returns the first connection. */
export async function connectionTo(child, port) {
  const deadline = Date.now() + startDeadline
  for (;;) {
    const socket = await tryToConnect(port)
    if (socket) return socket
    const program = child.spawnargs.join(' ')
    if (!running.has(child)) throw new Error(`${program} ended: ${child.errorOutput}`)
    if (Date.now() > deadline) throw new Error(`${program} does not listen`)
    await wait(1)
  }
}

/** Tells programs to end, and waits until they have; one that takes too long is killed. */
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

/** A free port of 127.0.0.1. */
export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}

function tryToConnect(port) {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    socket.once('connect', () => resolve(socket)).once('error', () => resolve(undefined))
  })
}
