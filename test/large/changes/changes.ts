/**
 * Changes through a proxy that cuts connections: increments of one number by `update`, of which none may be
 * lost or made twice, and creates with keys, of which each makes one item.
 */

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { ItemStoreClient, ItemStoreError } from '../../../src/client/client.js'
import { type CuttingProxy, cuttingProxy, type Fate } from '../../support/cutting-proxy.js'
import { type OwnService, ownService } from '../../support/own-service.js'
import { randomNumbers } from '../../support/random.js'

export interface ChangesOptions {
  /** The `STORE_URL` of two services; one service with items in its memory without. */
  readonly storeUrl?: string
  /** How many changes are made: a multiple of 16 for increments. */
  readonly count: number
  /** How many requests there are for each connection that is cut. */
  readonly perCut: number
  /** Time from one kill of a service to the next, in milliseconds; none is killed without. */
  readonly perKill?: number
}

export interface ChangesResult {
  /** What there is in the end: the number, or items. */
  readonly found: number
  readonly cuts: number
  readonly kills: number
}

const clients = 16
/** What is no reason to end: the connection was cut, or the service killed. */
const passing = ['NOT_CONNECTED', 'CONNECTION_LOST', 'STORE_UNAVAILABLE']

interface Counter {
  count: number
  /** The last step of each client. */
  done: Record<string, number>
}

/** Clients increment one number. */
export async function checkIncrements(options: ChangesOptions): Promise<ChangesResult> {
  const { connect, end } = await startServices(options)
  const steps = options.count / clients
  const { id } = await connect<Counter>(0).create({ count: 0, done: {} })
  await inParallel(async (n) => {
    const client = connect<Counter>(n)
    for (let step = 1; step <= steps; step += 1) {
      const change = ({ count, done }: Counter) =>
        done[n] === step ? undefined : { count: count + 1, done: { ...done, [n]: step } }
      await untilAnswered(() => client.update(id, change, { isRepeatable: true }))
    }
  })
  const { count } = await untilAnswered(() => connect<Counter>(0).get(id))
  return { found: count, ...(await end()) }
}

/** Clients create items, each with a key of its own. */
export async function checkCreates(options: ChangesOptions): Promise<ChangesResult> {
  const { connect, end } = await startServices(options)
  let next = 0
  const ids = new Set<string>()
  await inParallel(async (n) => {
    const client = connect<{ n: number }>(n)
    while (next < options.count) {
      const item = { n: next }
      next += 1
      const idempotencyKey = `key-${item.n}`
      ids.add((await untilAnswered(() => client.create(item, { idempotencyKey }))).id)
    }
  })
  const items = await untilAnswered(() => connect<{ n: number }>(0).list())
  assert.equal(new Set(items.map(({ n }) => n)).size, options.count)
  assert.ok(items.every(({ id }) => ids.has(id)))
  return { found: items.length, ...(await end()) }
}

async function inParallel(work: (n: number) => Promise<void>): Promise<void> {
  await Promise.all(Array.from({ length: clients }, (_, n) => work(n)))
}

async function untilAnswered<R>(call: () => Promise<R>): Promise<R> {
  for (;;) {
    try {
      return await call()
    } catch (error) {
      if (!(error instanceof ItemStoreError && passing.includes(error.code ?? ''))) throw error
    }
  }
}

/** Services, each behind a proxy that cuts connections. */
async function startServices({ storeUrl, perCut, perKill }: ChangesOptions) {
  const JWT_SECRET = randomBytes(32).toString('base64url')
  const env = { JWT_SECRET, ...(storeUrl === undefined ? {} : { STORE_URL: storeUrl }) }
  const random = randomNumbers()
  const fate = (): Fate => {
    if (random(perCut) > 0) return 'passed'
    return random(2) === 0 ? 'cut before' : 'cut after'
  }
  const services: OwnService[] = []
  const proxies: CuttingProxy[] = []
  for (let n = 0; n < (storeUrl === undefined ? 1 : 2); n += 1) {
    services.push(await ownService(env))
    proxies.push(await cuttingProxy(() => Number(services[n]?.baseUrl.port), fate))
  }

  let kills = 0
  let isOver = false
  const killing = (async () => {
    while (perKill !== undefined && !isOver) {
      await delay(perKill)
      const n = random(services.length)
      services[n]?.child.kill('SIGKILL')
      await services[n]?.ended()
      services[n] = await ownService(env)
      kills += 1
    }
  })()

  return {
    connect<T extends object>(n: number): ItemStoreClient<T> {
      const [baseUrl, token] = [proxies[n % proxies.length]?.baseUrl, services[0]?.validToken()]
      assert.ok(baseUrl !== undefined && token !== undefined)
      return new ItemStoreClient<T>({ baseUrl, token })
    },
    async end() {
      isOver = true
      await killing
      for (const service of services) await service.stop()
      return { cuts: proxies.reduce((sum, { cuts }) => sum + cuts, 0), kills }
    },
  }
}
