/** What a start costs: time, memory, files, and the time of commands that only print something. */

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { rawRequest } from '../lib/client.mjs'
import { residentBytes } from '../lib/memory.mjs'
import { connectionTo, cores, freePort, start, stop } from '../lib/processes.mjs'

/**
 * Starts a side's server and sends it one request over the first connection that it accepts.
 * @returns milliseconds from just before the process was made until a connection was accepted
 * (`listening`) and until the first bytes of the response had arrived (`answered`).
 */
export async function timeStart(side) {
  const { port, program } = await prepare(side)
  const started = performance.now()
  const child = start(program)
  try {
    const socket = await connectionTo(child, port)
    const listening = performance.now() - started
    const head = await firstBytes(socket, side.path)
    const answered = performance.now() - started
    if (!head.startsWith('HTTP/1.1 200 ')) throw new Error(`${side.name} answered ${head}`)
    return { listening, answered }
  } finally {
    await stop(child)
  }
}

/**
 * Starts the servers of all sides at once, and reads their resident memory when they have been
 * idle for a while. None of them gets a connection before that.
 * @returns bytes, in the order of the sides.
 */
export async function idleMemory(sides, seconds) {
  const prepared = await Promise.all(sides.map(prepare))
  const children = prepared.map(({ program }) => start(program))
  try {
    await wait(seconds * 1000)
    const bytes = children.map(({ pid }) => residentBytes(pid)) // taskset became the server
    for (const [index, { port }] of prepared.entries()) {
      const socket = await connectionTo(children[index], port)
      socket.destroy()
    }
    return bytes
  } finally {
    await stop(...children)
  }
}

/** The number of JavaScript files that a side's server has loaded when it listens. */
export async function filesLoaded(side) {
  const { port, program } = await prepare(side)
  const counter = new URL('count-files.mjs', import.meta.url).href
  const child = start({
    ...program,
    args: ['--import', counter, ...program.args],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  try {
    const socket = await connectionTo(child, port)
    socket.destroy()
    child.send('count')
    const [count] = await once(child, 'message')
    return count
  } finally {
    await stop(child)
  }
}

/** Milliseconds from just before the process was made until it had ended. */
export async function timeCommand({ args }) {
  const started = performance.now()
  const child = start({ args, core: cores.server })
  await child.ended
  const taken = performance.now() - started
  if (child.exitCode !== 0) throw new Error(`node ${args.join(' ')} failed: ${child.errorOutput}`)
  return taken
}

async function prepare(side) {
  const port = await freePort()
  const secret = randomBytes(32).toString('base64url')
  return { port, program: { ...side.program({ port, secret }), core: cores.server } }
}

function firstBytes(socket, path) {
  return new Promise((resolve, reject) => {
    socket
      .once('data', (chunk) => {
        socket.destroy()
        resolve(chunk.latin1Slice())
      })
      .once('error', reject)
      .once('close', () => reject(new Error(`no response to GET ${path}`)))
    socket.write(rawRequest({ method: 'GET', path }))
  })
}
