/** The phases of a scale run, one after the other on one side, and how long a read waits meanwhile. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { text } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../build/test/support/process.js'
import { itemBytes } from '../lib/item.mjs'
import { connectionTo, cores, start, stop } from '../lib/processes.mjs'
import { median } from '../lib/statistics.mjs'

/** @import { Child } from '../lib/processes.mjs' */
/** @import { Actions, Side } from './server.mjs' */

/** @typedef {Awaited<ReturnType<typeof measure>>} Result */

const script = fileURLToPath(new URL('server.mjs', import.meta.url))
const listing = { times: 3, seconds: 3 } // minimum of each
/** The memory of compiled code and of a heap in use is the process's, not the items'. */
const warmUp = { items: 2000, churned: 100_000 }
const reads = 300_000
/** Items changed in the churn: as many as there are, but within these. */
const churned = { minimum: 200_000, maximum: 3_000_000 }
const probeInterval = 2 // milliseconds
const timerResolution = 1 // milliseconds

/**
 * Memory is in bytes, processor time in microseconds for each item, waits are in milliseconds.
 * @param {{ side: Side, items: number, heap: number | undefined }} run `heap` is the JavaScript heap in
 * MiB, by default that of Node.js
 */
export async function measure({ side, items, heap }) {
  const port = await freePort()
  const origin = `http://127.0.0.1:${port}`
  const flags = ['--expose-gc', ...(heap === undefined ? [] : [`--max-old-space-size=${heap}`])]
  const server = start({
    args: [...flags, script, side, String(port), String(items)],
    core: cores.server,
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  /** @type {(action: Exclude<keyof Actions, 'ids'>, count?: number) => Promise<number>} */
  const ask = (action, count) => askServer(server, action, count)

  /**
   * The result of `action`, and how long reads wait while it runs.
   * @param {() => Promise<number>} action
   */
  async function probed(action) {
    /** @type {string[]} */
    const ids = await askServer(server, 'ids')
    const stopReading = startReading(ids.map((id) => `${origin}/${id}`))
    const value = await action()
    return { value, waits: await stopReading() }
  }

  try {
    ;(await connectionTo(server, port)).destroy()
    await ask('fill', warmUp.items)
    await ask('read', reads)
    await ask('churn', warmUp.churned)
    await rateOfLists(origin)
    await ask('empty')
    await ask('fill', 1)
    const before = await ask('memory')
    const filled = await probed(() => ask('fill', items))
    const full = await ask('memory')
    const read = await ask('read', reads)
    const listed = await probed(() => rateOfLists(origin))
    const count = Math.min(Math.max(items, churned.minimum), churned.maximum)
    const changed = await probed(() => ask('churn', count))
    const afterChurn = await ask('memory')
    const emptied = await ask('empty')
    const empty = await ask('memory')
    return {
      beyond: (full - before) / items - itemBytes,
      beyondAfterChurn: (afterChurn - before) / items - itemBytes,
      emptyBytes: empty - before,
      bytesPerSecond: listed.value,
      cpu: { create: filled.value, read, churn: changed.value, delete: emptied },
      waits: { creating: filled.waits, listing: listed.waits, churning: changed.waits },
    }
  } finally {
    await stop(server)
  }
}

/**
 * Has the server do something. Ends with an error where the server ends.
 * @param {Child} server
 * @param {keyof Actions} action
 * @param {number} [count]
 */
async function askServer(server, action, count) {
  server.send({ action, count })
  const ended = server.ended.then(() => {
    throw new Error(`the server ended: ${server.errorOutput}`)
  })
  const [{ value }] = await Promise.race([once(server, 'message'), ended])
  return value
}

/**
 * Reads one item at a time, every two milliseconds, and measures the longest time that a response takes.
 * The stalls of this process are recorded too, to tell them apart.
 * @param {string[]} urls of the items to read, over and over
 * @returns the function that stops it
 */
function startReading(urls) {
  const ownDelay = monitorEventLoopDelay({ resolution: timerResolution })
  ownDelay.enable()
  let isStopped = false
  async function readAll() {
    let longest = 0
    for (let turn = 0; !isStopped; turn += 1) {
      const sent = performance.now()
      const response = await fetch(urls[turn % urls.length] ?? '')
      if (!response.ok) throw new Error(`a read was answered ${response.status}`)
      await response.arrayBuffer()
      const latency = performance.now() - sent
      longest = Math.max(longest, latency)
      await wait(Math.max(0, probeInterval - latency))
    }
    ownDelay.disable()
    return { longest, ownStall: Math.max(0, ownDelay.max / 1e6 - timerResolution) }
  }
  const waits = readAll()
  return () => {
    isStopped = true
    return waits
  }
}

/**
 * Lists everything, one list after the other, and reads as fast as it arrives.
 * Returns the median rate in bytes per second.
 * @param {string} origin
 */
async function rateOfLists(origin) {
  const args = ['--silent', '--show-error', '--fail', '--output', '/dev/null']
  const rates = []
  const end = performance.now() + listing.seconds * 1000
  while (rates.length < listing.times || performance.now() < end) {
    const curl = spawn('curl', [...args, '--write-out', '%{speed_download}', `${origin}/`])
    const [rate, problem] = await Promise.all([text(curl.stdout), text(curl.stderr)])
    if (problem !== '') throw new Error(problem)
    rates.push(Number(rate))
  }
  return median(rates)
}
