/**
 * Clients that create, replace, read and delete items all the time, and know what they have to find:
 * each item is of one client, and what a refused change left of it may be either.
 */

import assert from 'node:assert/strict'
import { after } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { record } from '../conformance/expect.js'
import type { OwnService } from './own-service.js'
import { randomNumbers } from './random.js'

/** A version of an item; `undefined` once it is deleted. */
type Version = number | undefined

interface Item {
  readonly id: string
  /** What may be found: after a success its version, and those whose outcome is unknown. */
  possible: Version[]
  /** They may come about at any time. */
  readonly uncertain: Version[]
  /** When the last success was, as `performance.now()` has it. */
  acknowledged: number
}

export interface ItemLoad {
  /** How often there was each status. */
  readonly statuses: ReadonlyMap<number, number>
  /** When the last request was answered with 503, as `performance.now()` has it. */
  lastRefused(): number
  /** Ends the clients. @throws {Error} when any answer was none of the expected. */
  stop(): Promise<void>
  /** Reads all items. @returns when what was lost had been acknowledged; mostly nothing. */
  lost(): Promise<readonly number[]>
}

/** How long a client waits after a 503, in milliseconds. */
const pause = 10

/** They end with the test at the latest. @param mayLose whether items may be found as they were before a success. */
export function startLoad(service: OwnService, { mayLose = false, clients = 8 } = {}): ItemLoad {
  const statuses = new Map<number, number>()
  const items: Item[] = []
  const losses: number[] = []
  let lastRefused = 0
  let isOver = false

  async function call(method: string, path: string, value?: unknown) {
    const answer = await service.call(method, path, value)
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
    if (answer.status === 503) {
      lastRefused = performance.now()
      await delay(pause)
    }
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

/** The number of answers that were successes. */
export function servedBy({ statuses }: ItemLoad): number {
  return [200, 201, 204].reduce((sum, status) => sum + (statuses.get(status) ?? 0), 0)
}
