/** The phases of a scale run, one after the other on one side. */

import { rawRequest, readList } from '../lib/client.mjs'
import { itemBytes } from '../lib/item.mjs'
import { connectionTo, cores, freePort, stop } from '../lib/processes.mjs'
import { median } from '../lib/statistics.mjs'
import { startWorker } from './worker.mjs'

/** @import { ProbeActions } from './probe.mjs' */
/** @import { ServerActions, Side } from './server.mjs' */
/** @import { Worker } from './worker.mjs' */

/** @typedef {Awaited<ReturnType<typeof measure>>} Result */

const listing = { times: 3, seconds: 3 } // minimum of each
/** The memory of compiled code and of a heap in use is the process's, not the items'. */
const warmUp = { items: 2000, churned: 100_000 }
const reads = 300_000
/** Items changed in the churn: as many as there are, but within these. */
const churned = { minimum: 200_000, maximum: 3_000_000 }

/**
 * Memory is in bytes, processor time in microseconds for each item, waits are in milliseconds.
 * @param {{ side: Side, items: number, heap: number | undefined }} run `heap` is the JavaScript heap in
 * MiB, by default that of Node.js
 */
export async function measure({ side, items, heap }) {
  const port = await freePort()
  const flags = ['--expose-gc', ...(heap === undefined ? [] : [`--max-old-space-size=${heap}`])]
  const args = [side, port, items]
  /** @type {Worker<ServerActions>} */
  const server = startWorker({ name: 'server', core: cores.server, flags, args })
  /** @type {Worker<ProbeActions>} */
  const probe = startWorker({ name: 'probe', core: cores.load, args: [port] })

  /**
   * The result of `action`, and how long reads wait while it runs.
   * @param {() => Promise<number>} action
   */
  async function probed(action) {
    await probe.ask('start', await server.ask('ids'))
    const value = await action()
    return { value, waits: await probe.ask('stop') }
  }

  try {
    ;(await connectionTo(server.child, port)).destroy()
    await server.ask('fill', warmUp.items)
    await server.ask('read', reads)
    await server.ask('churn', warmUp.churned)
    await rateOfLists(port)
    await server.ask('empty')
    await server.ask('fill', 1)
    const before = await server.ask('memory')
    const filled = await probed(() => server.ask('fill', items))
    const full = await server.ask('memory')
    const read = await server.ask('read', reads)
    const listed = await probed(() => rateOfLists(port))
    const count = Math.min(Math.max(items, churned.minimum), churned.maximum)
    const changed = await probed(() => server.ask('churn', count))
    const afterChurn = await server.ask('memory')
    const emptied = await server.ask('empty')
    const empty = await server.ask('memory')
    return {
      beyond: (full - before) / items - itemBytes,
      beyondAfterChurn: (afterChurn - before) / items - itemBytes,
      emptyBytes: empty - before,
      bytesPerSecond: listed.value,
      cpu: { create: filled.value, read, churn: changed.value, delete: emptied },
      waits: { creating: filled.waits, listing: listed.waits, churning: changed.waits },
    }
  } finally {
    await stop(server.child, probe.child)
  }
}

/**
 * Lists everything, one list after the other, and reads as fast as it arrives.
 * Returns the median rate in bytes per second.
 * @param {number} port
 */
async function rateOfLists(port) {
  const text = rawRequest({ method: 'GET', path: '/' })
  const rates = []
  const end = performance.now() + listing.seconds * 1000
  while (rates.length < listing.times || performance.now() < end) {
    const started = performance.now()
    const bytes = await readList(port, text)
    rates.push((bytes * 1000) / (performance.now() - started))
  }
  return median(rates)
}
