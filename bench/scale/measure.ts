/** The phases of a scale run, one after the other on one side, and how long a read waits meanwhile. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { text } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../test/support/process.js'
import { itemBytes } from '../lib/item.js'
import { type Child, connectionTo, cores, start, stop } from '../lib/processes.js'
import { median } from '../lib/statistics.js'
import type { Actions, Side } from './server.js'

export type Result = Awaited<ReturnType<typeof measure>>

const script = fileURLToPath(new URL('server.js', import.meta.url))
const listing = { times: 3, seconds: 3 } // minimum of each
/** The memory of compiled code and of a heap in use is the process's, not the items'. */
const warmUp = { items: 2000, churned: 100_000 }
const reads = 300_000
/** Items changed in the churn: as many as there are, but within these. */
const churned = { minimum: 200_000, maximum: 3_000_000 }
const probeInterval = 2 // milliseconds
const timerResolution = 1 // milliseconds

interface Run {
  side: Side
  items: number
  heap: number | undefined // JavaScript heap in MiB, by default that of Node.js
}

/** Memory is in bytes, processor time in microseconds for each item, waits are in milliseconds. */
export async function measure({ side, items, heap }: Run) {
  const port = await freePort()
  const origin = `http://127.0.0.1:${port}`
  const flags = ['--expose-gc', ...(heap === undefined ? [] : [`--max-old-space-size=${heap}`])]
  const server = start({
    args: [...flags, script, side, String(port), String(items)],
    core: cores.server,
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  const ask = (action: Exclude<keyof Actions, 'ids'>, count?: number): Promise<number> =>
    askServer(server, action, count)

  /** The result of `action`, and how long reads wait while it runs. */
  async function probed(action: () => Promise<number>) {
    const ids: string[] = await askServer(server, 'ids')
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

/** Has the server do something. Ends with an error where the server ends. */
async function askServer(server: Child, action: keyof Actions, count?: number) {
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
 * @param urls of the items to read, over and over
 * @returns the function that stops it
 */
function startReading(urls: string[]) {
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
 */
async function rateOfLists(origin: string) {
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
