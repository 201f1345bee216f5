/** Clients that continuously change and read their own items, and check every response. */

import assert from 'node:assert/strict'
import { Agent } from 'node:http'
import { after } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { keptClient } from './kept-client.js'
import type { OwnService } from './own-service.js'
import { until } from './process.js'
import { randomNumbers } from './random.js'

type Version = number | undefined // of an item; `undefined` if it's deleted

interface Item {
  readonly id: string
  possible: Version[] // which a read may return, even if their write has an unknown outcome
  readonly uncertain: Version[] // whose write may still take effect at any time
  last: Success
}

/** When a successful change was sent and acknowledged (`performance.now()`). */
interface Success {
  readonly sent: number
  readonly acknowledged: number
}

interface LoadOptions {
  readonly mayLose?: boolean // acknowledged changes, without an error
  readonly clients?: number
  readonly pause?: number // ms after each response
  readonly lengthOf?: (version: number) => number // length of a version's text in bytes
  /** @param own number of the client's items. @param bytes total length of all clients' items. */
  readonly wantsMore?: (own: number, bytes: number) => boolean
}

export type ItemLoad = ReturnType<typeof startLoad>

const letters = 'abcdefghijklmnopqrstuvwxyz'

export function startLoad(service: OwnService, options: LoadOptions = {}) {
  const { mayLose = false, clients = 8, pause = 30, lengthOf = () => 0 } = options
  const { wantsMore = (own: number) => own < 5 } = options
  const agent = new Agent({ keepAlive: true, maxSockets: clients })
  let send = keptClient(service, agent)
  const longest = letters.repeat(80_000)
  const statuses = new Map<number, number>()
  const items: Item[] = []
  const losses: Success[] = []
  let bytes = 0
  let lastVersion = 0
  let lastRefused = 0
  let isOver = false

  const membersOf = (version: number) =>
    `"version":${version},"text":"${longest.slice(0, lengthOf(version))}"}`
  const bytesOf = (version: Version) => (version === undefined ? 0 : lengthOf(version))

  async function call(method: string, path: string, version?: number) {
    const body = version === undefined ? undefined : `{"data":{${membersOf(version)}}`
    const sent = performance.now()
    const answer = await send(method, path, body)
    const success = { sent, acknowledged: performance.now() }
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
    if (answer.status === 503) lastRefused = performance.now()
    return { ...answer, success, isRefused: answer.status === 503 || answer.status === 507 }
  }

  async function createItem(version: number): Promise<Item | undefined> {
    bytes += bytesOf(version) // counted before the response, because `wantsMore` of other clients needs these bytes
    const { status, text, success, isRefused } = await call('POST', '/items', version)
    if (isRefused) {
      bytes -= bytesOf(version)
      return undefined
    }
    assert.equal(status, 201, text)
    const id = /"id":"([^"]+)"/.exec(text)?.[1] ?? assert.fail(text)
    const item = { id, possible: [version], uncertain: [], last: success }
    items.push(item)
    return item
  }

  async function change(item: Item, version: Version): Promise<void> {
    const path = `/items/${item.id}`
    const before = item.possible
    item.possible = [...before, version]
    const method = version ? 'PUT' : 'DELETE'
    const { status, text, success, isRefused } = await call(method, path, version)
    if (isRefused) {
      if (status === 507 || text.includes('nothing has changed')) item.possible = before
      else item.uncertain.push(version)
    } else if (status === 404) {
      item.possible = before
      if (!before.includes(undefined)) lose(item, undefined)
    } else {
      assert.equal(status, version === undefined ? 204 : 200, text)
      bytes += bytesOf(version) - bytesOf(before[0])
      item.possible = [version, ...item.uncertain]
      item.last = success
    }
  }

  function lose(item: Item, found: Version): void {
    assert.ok(mayLose, `${item.id} has version ${found}, none of ${item.possible}`)
    losses.push(item.last)
    item.possible = [found, ...item.uncertain]
  }

  async function read(item: Item): Promise<void> {
    const { status, text } = await call('GET', `/items/${item.id}`)
    if (status === 503) return
    assert.ok(status === 200 || status === 404, text)
    const found = status === 404 ? undefined : Number(/"version":(\d+)/.exec(text)?.[1])
    if (found !== undefined) assert.ok(text.endsWith(`${membersOf(found)}}`), text.slice(0, 500))
    if (!item.possible.includes(found)) lose(item, found)
  }

  async function work(client: number): Promise<void> {
    const random = randomNumbers(client + 1)
    const own: Item[] = []
    for (let turn = 1; !isOver; turn += 1) {
      const item = own[random(own.length)]
      lastVersion += 1
      if (item === undefined || wantsMore(own.length, bytes)) {
        const created = await createItem(lastVersion)
        if (created !== undefined) own.push(created)
      } else if (turn % 3 === 0) {
        await read(item)
      } else {
        await change(item, turn % 7 === 0 ? undefined : lastVersion)
        if (item.possible.includes(undefined)) own.splice(own.indexOf(item), 1)
      }
      if (pause > 0) await delay(pause)
    }
  }

  after(() => {
    isOver = true
    agent.destroy()
  })
  const works = Promise.all(Array.from({ length: clients }, (_, client) => work(client)))
  works.catch(() => undefined) // prevents an unhandled rejection; `stop` throws the error

  return {
    statuses,
    lastRefused: () => lastRefused, // a value of `performance.now()`

    /** @throws {Error} if any response was unexpected. */
    async stop() {
      isOver = true
      await works
    },

    async lost(from = service) {
      send = keptClient(from, agent)
      for (const item of items) await read(item)
      return losses
    },

    async clear() {
      const stored = items.filter(({ possible }) => !possible.includes(undefined))
      for (const item of stored) await change(item, undefined)
    },
  }
}

export function successesOf({ statuses }: ItemLoad): number {
  return [200, 201, 204].reduce((sum, status) => sum + (statuses.get(status) ?? 0), 0)
}

export async function untilMoreIsServed(load: ItemLoad): Promise<void> {
  const before = successesOf(load)
  await until('100 more successful responses', () => successesOf(load) > before + 100)
}

export async function servedLoad(service: OwnService, options?: LoadOptions): Promise<ItemLoad> {
  const load = startLoad(service, options)
  await untilMoreIsServed(load)
  return load
}

export async function assertNothingLost(load: ItemLoad, from?: OwnService): Promise<void> {
  await untilMoreIsServed(load)
  await load.stop()
  assert.deepEqual(await load.lost(from), [])
}
