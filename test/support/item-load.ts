/**
 * Clients that keep creating, replacing, reading and deleting items, and know what they have to find: each
 * item belongs to one client, and after a refused change it may be in either state.
 */

import assert from 'node:assert/strict'
import { after } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { record } from '../conformance/expect.js'
import type { OwnService } from './own-service.js'
import { randomNumbers } from './random.js'
import { until } from './until.js'

/** A version of an item; `undefined` once it is deleted. */
type Version = number | undefined

interface Item {
  readonly id: string
  /** The versions that may be found: the last successful one, and those whose outcome is unknown. */
  possible: Version[]
  /** Those whose outcome is unknown, which may take effect at any time. */
  readonly uncertain: Version[]
  /** When the last success was: the value of `performance.now()`. */
  acknowledged: number
}

export interface ItemLoad {
  /** How often each status occurred. */
  readonly statuses: ReadonlyMap<number, number>
  /** When a request was last answered with 503: the value of `performance.now()`. */
  lastRefused(): number
  /** Stops the clients. @throws {Error} if any response was unexpected. */
  stop(): Promise<void>
  /** Reads all items. @returns when each lost change was acknowledged; usually nothing is lost. */
  lost(): Promise<readonly number[]>
}

const clients = 8
/** How long a client waits after an answer, in milliseconds: without it, all clients would take a whole core. */
const pause = 30

/** They stop with the test at the latest. @param mayLose whether acknowledged changes may be lost. */
export function startLoad(service: OwnService, { mayLose = false } = {}): ItemLoad {
  const statuses = new Map<number, number>()
  const items: Item[] = []
  const losses: number[] = []
  let lastRefused = 0
  let isOver = false

  async function call(method: string, path: string, value?: unknown) {
    const answer = await service.call(method, path, value)
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
    if (answer.status === 503) lastRefused = performance.now()
    return answer
  }

  async function createItem(version: number): Promise<Item | undefined> {
    const answer = await call('POST', '/items', { data: { version } })
    if (answer.status === 503) return undefined
    assert.equal(answer.status, 201)
    const id = String(record(record(answer.json()).data).id)
    const item = { id, possible: [version], uncertain: [], acknowledged: performance.now() }
    items.push(item)
    return item
  }

  async function change(item: Item, version: Version): Promise<void> {
    const path = `/items/${item.id}`
    const before = item.possible
    item.possible = [...before, version]
    const answer =
      version === undefined
        ? await call('DELETE', path)
        : await call('PUT', path, { data: { version } })
    if (answer.status === 503) {
      if (answer.text.includes('nothing has changed')) item.possible = before
      else item.uncertain.push(version)
    } else if (answer.status === 404) {
      item.possible = before
      if (!before.includes(undefined)) lose(item, undefined)
    } else {
      assert.equal(answer.status, version === undefined ? 204 : 200)
      item.possible = [version, ...item.uncertain]
      item.acknowledged = performance.now()
    }
  }

  function lose(item: Item, found: Version): void {
    assert.ok(mayLose, `${item.id} has ${found}, not one of ${item.possible}`)
    losses.push(item.acknowledged)
    item.possible = [found, ...item.uncertain]
  }

  async function read(item: Item): Promise<void> {
    const answer = await call('GET', `/items/${item.id}`)
    if (answer.status === 503) return
    assert.ok(answer.status === 200 || answer.status === 404, answer.text)
    const found =
      answer.status === 404 ? undefined : Number(record(record(answer.json()).data).version)
    if (!item.possible.includes(found)) lose(item, found)
  }

  async function work(client: number): Promise<void> {
    const random = randomNumbers(client + 1)
    const own: Item[] = []
    for (let version = 1; !isOver; version += 1) {
      const item = own[random(own.length + 1)]
      if (item === undefined || own.length < 5) {
        const created = await createItem(version)
        if (created !== undefined) own.push(created)
      } else if (version % 3 === 0) {
        await read(item)
      } else {
        await change(item, version % 7 === 0 ? undefined : version)
        if (item.possible.includes(undefined)) own.splice(own.indexOf(item), 1)
      }
      await delay(pause)
    }
  }

  after(() => {
    isOver = true
  })
  const works = Promise.all(Array.from({ length: clients }, (_, client) => work(client)))
  works.catch(() => undefined) // `stop` throws it

  return {
    statuses,
    lastRefused: () => lastRefused,

    async stop() {
      isOver = true
      await works
    },

    async lost() {
      for (const item of items) await read(item)
      return losses
    },
  }
}

/** The number of successful responses. */
export function servedBy({ statuses }: ItemLoad): number {
  return [200, 201, 204].reduce((sum, status) => sum + (statuses.get(status) ?? 0), 0)
}

export async function untilMoreIsServed(load: ItemLoad): Promise<void> {
  const before = servedBy(load)
  await until('more is served', () => servedBy(load) > before + 100)
}
