/** Runs two stores, with reads that wait, over one model of a server, in any order that a scheduler chooses. */

import './standing-time.js'
import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { mock, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { type EntityTag, entityTag } from '../../src/http/conditions.js'
import type { Exchange } from '../../src/http/exchange.js'
import { createWaitingReads } from '../../src/http/waiting-reads.js'
import type { ItemId } from '../../src/item/id.js'
import type { EncodedItem } from '../../src/item/item.js'
import type { ItemStore } from '../../src/store/item-store.js'
import { type Fate, ModelRedis } from './model-redis.js'
import { textOf } from './store-behaviour.js'

/** Maximum number of polls while the clients of a round work, and the length of the pause before each, in steps. */
const [maxPolls, pauseSteps] = [6, 4]
/** Time after which the services read again if a read has failed, in milliseconds. */
const retryAfter = 500

const ids = ['00000000', '00010001', '00010002'].map(
  (start) => `${start}-0000-4000-8000-000000000000` as ItemId, // has the form of an id
)
const projects = ['a', 'b', undefined] as const

const operation = fc.record({
  kind: fc.constantFrom('create', 'create', 'replace', 'delete', 'list', 'wait', 'wait', 'item'),
  place: fc.nat(1),
  id: fc.constantFrom(...ids),
  project: fc.constantFrom(...projects),
  value: fc.nat(1),
})
type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never

const clients = fc.array(fc.array(operation, { maxLength: 6 }), { minLength: 1, maxLength: 3 })
const fates: Fate[] = [...Array<Fate>(30).fill('passed'), 'unsent', 'lost', 'late']

/** Lets each step have all its effects in this process before the next one. */
async function act(step: () => Promise<unknown>): Promise<void> {
  await step()
  for (let turn = 0; turn < 5; turn += 1) await nextTurn()
}

const plan = fc.record({
  rounds: fc.array(clients, { minLength: 1, maxLength: 3 }),
  fates: fc.infiniteStream(fc.constantFrom(...fates)),
  scheduler: fc.scheduler({ act }),
  isCluster: fc.boolean(),
})
type Plan = typeof plan extends fc.Arbitrary<infer T> ? T : never

/** @param seconds time after which no other interleaving begins. A failure names the seed and path that repeat it. */
export function testInterleavings(seconds: number): void {
  test('in any order of requests, polls and replies, no wait misses a change, and no tag stands for two lists', async () => {
    const property = fc.asyncProperty(plan, async (its) => {
      const run = new Run(its)
      await run.begin()
      for (const round of its.rounds) await run.round(round)
      await run.end()
    })
    const end = performance.now() + seconds * 1000
    while (performance.now() < end) await fc.assert(property, { numRuns: 20 })
  })
}

type Service = ReturnType<typeof serviceOn>

class Run {
  readonly #scheduler: fc.Scheduler
  readonly #model: ModelRedis
  readonly #services: Service[] = []
  /** Lists that clients hold, each with its project and tag. */
  readonly #held: { project: string | undefined; tag: EntityTag; items: string[] }[] = []
  readonly #waits = new Set<{ tag: string; current: (service: Service) => Promise<string> }>()
  #endPauses: (() => void)[] = []
  #polls = 0
  /** Whether there are no faults, and everything happens at once. */
  #isCalm = true

  constructor({ scheduler, fates, isCluster }: Plan) {
    this.#scheduler = scheduler
    const step = (label: string) =>
      this.#isCalm ? nextTurn() : scheduler.schedule(nextTurn(), label)
    const fate = () => (this.#isCalm ? 'passed' : fates.next().value)
    const pause = async () => {
      this.#polls += 1
      if (this.#isCalm || this.#polls > maxPolls) {
        return await new Promise<void>((resolve) => this.#endPauses.push(resolve))
      }
      for (let count = 0; count < pauseSteps; count += 1) await step('pause')
    }
    this.#model = new ModelRedis({ step, fate, pause }, isCluster)
  }

  async begin(): Promise<void> {
    for (const maxCachedBytes of [0, 1000]) {
      const store = await this.#model.open(maxCachedBytes)
      this.#services.push(serviceOn(store))
    }
  }

  /** Lets clients work in any order, and checks the outcome once all is quiet. */
  async round(work: Operation[][]): Promise<void> {
    this.#polls = 0
    for (const isCalm of [false, true, true, true]) {
      this.#isCalm = isCalm
      for (const resolve of this.#endPauses.splice(0)) resolve()
      mock.timers.tick(retryAfter)
      if (!isCalm) for (const operations of work) void this.#work(operations)
      do {
        if (this.#scheduler.count() > 0) await this.#scheduler.waitOne()
        else for (let time = 0; time < 3; time += 1) await act(nextTurn)
      } while (this.#scheduler.count() > 0)
    }
    for (const service of this.#services) await this.#check(service)
  }

  async #work(operations: Operation[]): Promise<void> {
    for (const each of operations) {
      await this.#scheduler.schedule(nextTurn(), `${each.kind} ${each.project}`)
      await this.#begin(each).catch(() => undefined) // ignored: a fault of the model
    }
  }

  async #begin({ kind, place, id, project, value }: Operation): Promise<void> {
    const { store, ...service } = this.#services[place] ?? assert.fail()
    const text = `{"id":"${id}","project_id":${JSON.stringify(project ?? null)},"value":${value}}`
    const item = Buffer.from(text) as EncodedItem // the text has the form of an encoded item
    if (kind === 'create') await store.create(id, item)
    else if (kind === 'replace') await store.replace(id, item)
    else if (kind === 'delete') await store.delete(id)
    else if (kind === 'list') this.#held.push({ project, ...(await service.list(project)) })
    else if (kind === 'wait') {
      const held = this.#held.findLast((each) => each.project === project)
      const tag = held?.tag ?? (await service.listTag(project))
      void this.#wait(tag, service.listWait(project, tag), (other) => other.listTag(project))
    } else {
      const tag = await service.itemTag(id)
      void this.#wait(tag, service.itemWait(id, tag), (other) => other.itemTag(id))
    }
  }

  async #wait(tag: string, answer: Promise<unknown>, current: (of: Service) => Promise<string>) {
    const wait = { tag, current }
    this.#waits.add(wait)
    await answer.catch(() => undefined) // ignored: a fault of the model
    this.#waits.delete(wait)
  }

  async #check(service: Service): Promise<void> {
    for (const project of projects) {
      const { tag, items } = await service.list(project)
      const isOwn = (text: string) => !project || text.includes(`"project_id":"${project}"`)
      assert.deepEqual(items, this.#model.items().filter(isOwn), `the list of ${project}`)
      const held = this.#held.filter((each) => each.project === project && each.tag === tag)
      for (const each of held) assert.deepEqual(each.items, items, 'two lists with one tag')
    }
    for (const { tag, current } of this.#waits) {
      assert.equal(await current(service), tag, 'a wait has missed a change')
    }
  }

  async end(): Promise<void> {
    for (const { stop } of this.#services) stop()
    for (const resolve of this.#endPauses) resolve()
    await act(nextTurn)
    for (const { store } of this.#services) await store.close()
  }
}

function serviceOn(store: ItemStore) {
  const reads = createWaitingReads(store)
  const itemTag = async (id: ItemId) => entityTag((await store.read(id)) ?? Buffer.alloc(0))
  const listTag = async (project?: string): Promise<EntityTag> =>
    `"${await store.version(project)}"`
  const wait = <Key extends string | undefined>(
    tagOf: (key: Key) => Promise<EntityTag>,
    watched: Parameters<typeof reads.of<Key, never>>[1],
  ) => {
    const read = reads.of(async (key: Key) => ({ tag: await tagOf(key), bodyBytes: 0 }), watched)
    return (key: Key, tag: EntityTag) => {
      const request = { headers: { prefer: 'wait=60' }, socket: new EventEmitter(), resume() {} }
      const exchange = { request, response: new EventEmitter(), startedAt: 0 }
      const unless = { ifMatch: undefined, ifNoneMatch: [tag] }
      return read(exchange as object as Exchange, unless, key) // a wait uses only these fields
    }
  }
  return {
    store,
    stop: reads.stop,
    itemTag,
    listTag,
    itemWait: wait(itemTag, (id) => ({ id })),
    listWait: wait(listTag, (project) => ({ project })),
    async list(project: string | undefined) {
      const list = await store.list(project)
      const texts = (await textOf(list)).split(/(?<=\}),(?=\{)/).filter((text) => text !== '')
      return { tag: `"${list.version}"` as const, items: texts.sort() }
    },
  }
}
