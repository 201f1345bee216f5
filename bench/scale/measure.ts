/** Runs the phases of the scale benchmark on one store, and measures how long reads wait. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../test/support/process.js'
import { v8Flags } from '../../test/support/tools.js'
import { itemBytes } from '../lib/item.js'
import { startReading } from '../lib/probe.js'
import { kill, startServer } from '../lib/processes.js'
import { median } from '../lib/statistics.js'
import type { Actions, Side } from './server.js'

export type Result = Awaited<ReturnType<typeof measure>>

const script = fileURLToPath(new URL('server.js', import.meta.url))
const manyItems = 5_000_000 // above, a `Map` of strings needs more than Node.js's default heap
const listing = { times: 3, seconds: 3 } // minimum number of lists, and minimum time for reading lists, in seconds
const warmUp = { items: 2000, churned: 100_000 } // operations, so that memory for compiled code doesn't count
const readItems = 300_000
const churned = { minimum: 200_000, maximum: 3_000_000 } // changes; in between, one for each item

/** Returns memory in bytes, processor time in microseconds per item, and waits in milliseconds. */
export async function measure(side: Side, items: number) {
  const port = await freePort()
  const flags = ['--expose-gc', ...v8Flags]
  if (side === 'map' && items > manyItems) flags.push('--max-old-space-size=16384') // MiB
  const server = await startServer({
    port,
    args: [...flags, script, side, String(port), String(items)],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  const ended = server.ended.then(() => {
    throw new Error(`the server ended: ${server.errorOutput}`)
  })
  ended.catch(() => undefined) // `ask` throws the error

  async function ask<A extends keyof Actions>(
    action: A,
    count?: number,
  ): Promise<Awaited<ReturnType<Actions[A]>>> {
    server.send({ action, count })
    const [{ value }] = await Promise.race([once(server, 'message'), ended])
    return value
  }

  async function probed(action: () => Promise<number>) {
    const ids = await ask('ids')
    const reads = ids.map((id) => ({ method: 'GET', path: `/${id}` }))
    const stopReading = await startReading(port, reads)
    const value = await action()
    const waits = await stopReading()
    if (waits.problem !== undefined) throw new Error(waits.problem)
    return { value, waits }
  }

  try {
    await ask('fill', warmUp.items)
    await ask('read', readItems)
    await ask('churn', warmUp.churned)
    await rateOfLists(port)
    await ask('empty')
    await ask('fill', 1)
    const before = await ask('memory')
    const filled = await probed(() => ask('fill', items))
    const full = await ask('memory')
    const read = await ask('read', readItems)
    const listed = await probed(() => rateOfLists(port))
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
    await kill(server)
  }
}

/** Returns the median rate of lists, in bytes per second. */
async function rateOfLists(port: number) {
  const options = ['--silent', '--show-error', '--fail', '--output', '/dev/null']
  const args = [...options, '--write-out', '%{speed_download}', `http://127.0.0.1:${port}/`]
  const rates = []
  const end = performance.now() + listing.seconds * 1000
  while (rates.length < listing.times || performance.now() < end) {
    const curl = spawn('curl', args)
    const [rate, problem] = await Promise.all([text(curl.stdout), text(curl.stderr)])
    if (problem !== '') throw new Error(problem)
    rates.push(Number(rate))
  }
  return median(rates)
}
