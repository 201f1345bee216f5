/** Runs two stores and their waiting reads against one simulated server. A scheduler chooses the order of all steps. */

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
import { createModelRedis, type Fate } from './model-redis.js'
import { textOf } from './store-behaviour.js'

const [maxPolls, pauseSteps] = [6, 4] // per round, and before each poll
const retryAfter = 500 // ms until the services repeat a failed read

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

/** Takes a step, and waits until it has had all its effects in this process. */
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
    const end = performance.now() + seconds * 1000
    while (performance.now() < end) await fc.assert(fc.asyncProperty(plan, run), { numRuns: 20 })
  })
}

type Service = ReturnType<typeof serviceOn>

async function run({ scheduler, fates, isCluster, rounds }: Plan): Promise<void> {
  /** Lists that clients hold, each with its project and tag. */
  const held: { project: string | undefined; tag: EntityTag; items: string[] }[] = []
  const waits = new Set<{ tag: string; current: (service: Service) => Promise<string> }>()
  let endPauses: (() => void)[] = []
  let polls = 0
  let isCalm = true // no faults, and everything happens at once
  const step = (label: string) => (isCalm ? nextTurn() : scheduler.schedule(nextTurn(), label))
  const fate = () => (isCalm ? 'passed' : fates.next().value)
  const pause = async () => {
    polls += 1
    if (isCalm || polls > maxPolls) {
      return await new Promise<void>((resolve) => endPauses.push(resolve))
    }
    for (let count = 0; count < pauseSteps; count += 1) await step('pause')
  }
  const resume = () => {
    for (const resolve of endPauses) resolve()
    endPauses = []
  }
  const model = createModelRedis({ step, fate, pause }, isCluster)
  const services = [serviceOn(await model.open(0)), serviceOn(await model.open(1000))]

  async function work(operations: Operation[]): Promise<void> {
    for (const each of operations) {
      await scheduler.schedule(nextTurn(), `${each.kind} ${each.project}`)
      await begin(each).catch(() => undefined) // ignored: a fault of the model
    }
  }

  async function begin({ kind, place, id, project, value }: Operation): Promise<void> {
    const { store, ...service } = services[place] ?? assert.fail()
    const text = `{"id":"${id}","project_id":${JSON.stringify(project ?? null)},"value":${value}}`
    const item = Buffer.from(text) as EncodedItem // the text has the form of an encoded item
    if (kind === 'create') await store.create(id, item)
    else if (kind === 'replace') await store.replace(id, item)
    else if (kind === 'delete') await store.delete(id)
    else if (kind === 'list') held.push({ project, ...(await service.list(project)) })
    else if (kind === 'wait') {
      const known = held.findLast((each) => each.project === project)?.tag
      const tag = known ?? (await service.listTag(project))
      void wait(tag, service.listWait(project, tag), (other) => other.listTag(project))
    } else {
      const tag = await service.itemTag(id)
      void wait(tag, service.itemWait(id, tag), (other) => other.itemTag(id))
    }
  }

  async function wait(
    tag: string,
    answer: Promise<unknown>,
    current: (of: Service) => Promise<string>,
  ) {
    const entry = { tag, current }
    waits.add(entry)
    await answer.catch(() => undefined) // ignored: a fault of the model
    waits.delete(entry)
  }

  async function check(service: Service): Promise<void> {
    for (const project of projects) {
      const { tag, items } = await service.list(project)
      const isOwn = (text: string) => !project || text.includes(`"project_id":"${project}"`)
      assert.deepEqual(items, model.items().filter(isOwn), `the list of ${project}`)
      const same = held.filter((each) => each.project === project && each.tag === tag)
      for (const each of same) assert.deepEqual(each.items, items, 'two lists with one tag')
    }
    for (const { tag, current } of waits) {
      assert.equal(await current(service), tag, 'a wait has missed a change')
    }
  }

  for (const round of rounds) {
    polls = 0
    // First, clients work in any order. Then, without faults, all that is pending ends, and the outcome is checked.
    for (const calm of [false, true, true, true]) {
      isCalm = calm
      resume()
      mock.timers.tick(retryAfter)
      if (!calm) for (const operations of round) void work(operations)
      do {
        if (scheduler.count() > 0) await scheduler.waitOne()
        else for (let time = 0; time < 3; time += 1) await act(nextTurn)
      } while (scheduler.count() > 0)
    }
    for (const service of services) await check(service)
  }
  for (const { stop } of services) stop()
  resume()
  await act(nextTurn)
  for (const { store } of services) await store.close()
}

function serviceOn(store: ItemStore) {
  const { of, stop } = createWaitingReads(store)
  const itemTag = async (id: ItemId) => entityTag((await store.read(id)) ?? Buffer.alloc(0))
  const listTag = async (project?: string): Promise<EntityTag> =>
    `"${await store.version(project)}"`
  const bodyBytes = 0
  const item = of(
    async (id: ItemId) => ({ tag: await itemTag(id), bodyBytes }),
    (id) => ({ id }),
  )
  const list = of(
    async (project?: string) => ({ tag: await listTag(project), bodyBytes }),
    (project) => ({ project }),
  )
  const unless = (tag: EntityTag) => ({ ifMatch: undefined, ifNoneMatch: [tag] })
  const exchange = () => {
    const request = { headers: { prefer: 'wait=60' }, socket: new EventEmitter(), resume() {} }
    return { request, response: new EventEmitter(), startedAt: 0 } as object as Exchange // a wait uses only these fields
  }
  return {
    store,
    stop,
    itemTag,
    listTag,
    itemWait: (id: ItemId, tag: EntityTag) => item(exchange(), unless(tag), id),
    listWait: (project: string | undefined, tag: EntityTag) =>
      list(exchange(), unless(tag), project),
    async list(project: string | undefined) {
      const read = await store.list(project)
      const texts = (await textOf(read)).split(/(?<=\}),(?=\{)/).filter((text) => text !== '')
      return { tag: `"${read.version}"` as const, items: texts.sort() }
    },
  }
}
