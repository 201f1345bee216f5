/** The phases of a scale run, one after the other on one server. */

import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { forgetPeak, peakBytes, residentBytes } from '../lib/memory.mjs'
import { freePort, stop } from '../lib/processes.mjs'
import { signToken } from '../lib/token.mjs'
import itemStore from '../peers/item-store.mjs'
import { startWorker } from './worker.mjs'

const listing = { times: 3, seconds: 5 } // minimum of each
const quietSeconds = 5 // of reads without other load
const settleSeconds = 3 // before memory is read
/**
 * The memory of compiled code and of a heap in use is the process's, not the items'. The items of
 * the warm-up are few, as those that count would reuse the memory that they leave behind.
 */
const warmUp = { items: 2000, churn: { seconds: 3, writes: 0 } }

/**
 * Runs all phases.
 * @param churn the minimum of `seconds` to churn, and of `writes`.
 * @param onPhase called at the start of each phase.
 */
export async function measure({ items, churn }, onPhase) {
  const port = await freePort()
  const secret = randomBytes(32).toString('base64url')
  const { programs } = await itemStore.start({ port, secret })
  const [{ pid }] = programs // taskset became the server
  const token = signToken(secret, 'bench')
  const load = startWorker('load', { port, token })
  const probe = startWorker('probe', { port, token })

  /** The latencies of reads of `ids` while `action` runs, and its result. */
  async function probed(ids, action) {
    await probe.ask('start', ids)
    const value = await action()
    return { value, latency: await probe.ask('stop') }
  }

  async function settledMemory() {
    await wait(settleSeconds * 1000)
    return residentBytes(pid)
  }

  try {
    onPhase('warm-up')
    await load.ask('create', warmUp.items)
    await load.ask('churn', warmUp.churn)
    await load.ask('list')
    await load.ask('clear')

    onPhase('one item')
    const { kept: first } = await load.ask('create', 1)
    const one = await probed(first, () => wait(quietSeconds * 1000))
    const memory = { one: await settledMemory() }

    onPhase('growing')
    const grow = await probed(first, () => load.ask('create', items - 1))
    memory.all = await settledMemory()

    onPhase('all items, only the probe')
    const ids = grow.value.kept
    const all = await probed(ids, () => wait(quietSeconds * 1000))

    onPhase('listing')
    const beforeListing = residentBytes(pid)
    forgetPeak(pid)
    const list = await probed(ids, async () => {
      const each = []
      const started = performance.now()
      while (each.length < listing.times || performance.now() - started < listing.seconds * 1000) {
        each.push(await load.ask('list'))
      }
      return each
    })
    memory.listing = peakBytes(pid) - beforeListing

    onPhase('churning')
    memory.beforeChurn = await settledMemory()
    const churned = await probed(ids, () => load.ask('churn', churn))
    memory.afterChurn = await settledMemory()

    onPhase('deleting all')
    const clear = await load.ask('clear')
    memory.none = await settledMemory()

    return {
      memory,
      createsPerSecond: (items - 1) / grow.value.seconds,
      churn: churned.value,
      deletesPerSecond: clear.perSecond,
      list: list.value.toSorted((a, b) => a.seconds - b.seconds)[Math.floor(list.value.length / 2)],
      latency: {
        one: one.latency,
        growing: grow.latency,
        all: all.latency,
        listing: list.latency,
        churning: churned.latency,
      },
    }
  } finally {
    await stop(load.child, probe.child, ...programs)
  }
}
