/**
 * Churn: clients that create, replace and delete items of 100 bytes to 2 MB while others read lists slowly,
 * until all items are deleted again; and what is left of the memory, and of the room, after it.
 */

import { Agent } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { servedBy, startLoad } from './item-load.js'
import { keptClient } from './kept-client.js'
import type { OwnService } from './own-service.js'
import { residentBytes } from './process.js'
import { headOf, openSocket } from './socket.js'
import { until } from './until.js'

export interface Churn {
  readonly seconds: number
  /** How many bytes the items may take. */
  readonly maxStoreBytes: number
}

/** What was found; memory in bytes. */
export interface Remains {
  /** Resident memory of the service before, and once it has settled after all items are deleted. */
  readonly idle: number
  readonly after: number
  /** How many requests were answered meanwhile. */
  readonly served: number
  /** Bytes of the items of 3 KB that were stored until the store was full, and the status that ended it. */
  readonly filled: number
  readonly end: number
  /** The status of a list of them all. */
  readonly listed: number
}

const slowReaders = 10
/** A slow reader takes 64 KiB at a time, and rests so long between, in milliseconds. */
const rest = 20
/** How long the service may take to give memory back, in milliseconds, and how much of its idle memory is enough. */
const settling = 15_000
const settled = 1.3

export async function churn(
  service: OwnService,
  { seconds, maxStoreBytes }: Churn,
): Promise<Remains> {
  let isOver = false

  async function readSlowly(): Promise<void> {
    while (!isOver) {
      const socket = openSocket(
        service.baseUrl,
        headOf(service, 'GET', '/items', 'Connection: close'),
      )
      const timer = setInterval(() => socket.resume(), rest)
      socket.on('data', () => socket.pause())
      await until('a list ends', () => isOver || socket.destroyed || socket.readableEnded, 120_000)
      clearInterval(timer)
      socket.destroy()
    }
  }

  const warmUp = startLoad(service, { pause: 0 }) // the first requests load code
  await until('it is warm', () => servedBy(warmUp) > 500)
  await warmUp.stop()
  await warmUp.clear()
  await delay(1_500)
  const idle = residentBytes(service)

  const load = startLoad(service, {
    pause: 0,
    lengthOf: (version) => Math.floor(100 * 20_000 ** ((version * 0.618) % 1)),
    wantsMore: (own, bytes) => own < 10_000 && bytes < 0.8 * maxStoreBytes,
  })
  const readers = Array.from({ length: slowReaders }, readSlowly)
  await delay(seconds * 1000)
  await load.stop()
  isOver = true
  await Promise.all(readers)
  await load.clear()
  let after = residentBytes(service)
  for (const late = performance.now() + settling; after > settled * idle; await delay(200)) {
    if (performance.now() > late) break
    after = residentBytes(service)
  }

  const agent = new Agent({ keepAlive: true })
  const call = keptClient(service, agent)
  const body = `{"data":{"v":"${'x'.repeat(3_000)}"}}`
  let status = 201
  let filled = 0
  for (let refusals = 0; status === 201 || (status === 503 && refusals < 100); ) {
    status = (await call('POST', '/items', body)).status
    if (status === 201) filled += 3_000
    if (status !== 503) continue
    refusals += 1
    await delay(100)
  }
  await delay(1_500)
  const { status: listed } = await call('GET', '/items')
  agent.destroy()
  return { idle, after, served: servedBy(load), filled, end: status, listed }
}
