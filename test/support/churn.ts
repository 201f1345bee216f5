/**
 * Churn: clients that create, replace and delete items of 100 bytes to 2 MB while others read lists slowly,
 * until all items are deleted again; and what is left of the memory, and of the room, after it.
 */

import { Agent } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { record } from '../conformance/expect.js'
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
  /** How many creates and replaces there were. */
  readonly changes: number
  /** Bytes of the items of 3 KB that were stored until the store was full, and the status that ended it. */
  readonly filled: number
  readonly end: number
  /** The status of a list of them all. */
  readonly listed: number
}

const clients = 8
const slowReaders = 10
/** A slow reader takes 64 KiB at a time, and rests so long between, in milliseconds. */
const rest = 20
/** How long the service may take to give memory back, in milliseconds, and how much of its idle memory is enough. */
const settling = 15_000
const settled = 1.3

const letters = 'abcdefghijklmnopqrstuvwxyz'.repeat(80_000)

export async function churn(
  service: OwnService,
  { seconds, maxStoreBytes }: Churn,
): Promise<Remains> {
  const agent = new Agent({ keepAlive: true, maxSockets: clients })
  const call = keptClient(service, agent)
  const put = (method: string, path: string, length: number) =>
    call(method, path, `{"data":{"v":"${letters.slice(0, length)}"}}`)
  const items: { id: string; length: number }[] = []
  let held = 0
  let changes = 0
  let isOver = false

  async function createItem(length: number): Promise<number> {
    held += length
    const { status, text } = await put('POST', '/items', length)
    if (status === 201) items.push({ id: String(record(record(JSON.parse(text)).data).id), length })
    else held -= length
    return status
  }

  async function change(): Promise<void> {
    const length = Math.floor(100 * 20_000 ** Math.random())
    const item = items.splice(Math.floor(Math.random() * items.length), 1)[0]
    const kind = Math.random()
    changes += 1
    if (item === undefined || (kind < 0.5 && held < 0.9 * maxStoreBytes)) {
      if (item !== undefined) items.push(item)
      if ((await createItem(length)) !== 201) await delay(rest)
    } else if (kind < 0.7) {
      const { status } = await put('PUT', `/items/${item.id}`, length)
      held += status === 200 ? length - item.length : 0
      items.push(status === 200 ? { ...item, length } : item)
    } else {
      const { status } = await call('DELETE', `/items/${item.id}`)
      if (status === 204) held -= item.length
      else items.push(item)
    }
  }

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

  // The first requests load code.
  for (let count = 0; count < 100; count += 1) await createItem(300)
  while (items.length > 0) await call('DELETE', `/items/${items.pop()?.id}`)
  await delay(1_500)
  held = 0
  const idle = residentBytes(service)

  const end = performance.now() + seconds * 1000
  const readers = Array.from({ length: slowReaders }, readSlowly)
  await Promise.all(
    Array.from({ length: clients }, async () => {
      while (performance.now() < end) await change()
    }),
  )
  isOver = true
  await Promise.all(readers)
  while (items.length > 0) await call('DELETE', `/items/${items.pop()?.id}`)
  let after = residentBytes(service)
  for (const late = performance.now() + settling; after > settled * idle; await delay(200)) {
    if (performance.now() > late) break
    after = residentBytes(service)
  }

  let status = 201
  let filled = 0
  for (let refusals = 0; status === 201 || (status === 503 && refusals < 100); ) {
    status = await createItem(3_000)
    if (status === 201) filled += 3_000
    if (status !== 503) continue
    refusals += 1
    await delay(100)
  }
  await delay(1_500)
  const { status: listed } = await call('GET', '/items')
  agent.destroy()
  return { idle, after, changes, filled, end: status, listed }
}
