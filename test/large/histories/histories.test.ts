/** Tests that operations are linearizable, and creates make one item each, while two services and Redis fail. */

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { Agent, type OutgoingHttpHeaders } from 'node:http'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { Answer } from '../../conformance/client.js'
import { keptClient } from '../../support/kept-client.js'
import { type OwnService, ownService } from '../../support/own-service.js'
import { randomNumbers } from '../../support/random.js'
import { describeWithRedis, startedRedis } from '../../support/redis.js'
import { numbers } from '../../support/report.js'
import { type Event, isLinearizable, type Operation, type Outcome } from './register.js'

const options = numbers({ operations: 6000, seed: 1 })

const clients = 16
const used = { items: 6, operations: 30, whenDeleted: 8 } // per item: operations, and how many may follow a delete
const storeTimeout = 300 // in ms, short enough to make some outcomes unknown
const pause = 300 // ms between faults
const wait = 20 // ms after a 503 or a lost connection

interface Item {
  readonly id: string
  readonly events: Event[]
  left: number
  /** The last value that a client received, with its entity tag. */
  known: { readonly value: number; readonly tag: string }
}

describeWithRedis('two services on one Redis server, with faults', () => {
  test('operations on single items at two services are linearizable despite faults', async (t) => {
    const { items, strangers, ...counts } = await makeHistories(options)
    t.diagnostic(JSON.stringify({ ...options, ...counts, items: items.length }))
    assert.deepEqual(strangers, [], 'ids that no response to a create had')
    for (const { id, events } of items) {
      assert.ok(isLinearizable(events), `${id}\n${events.map(lineOf).join('\n')}`)
    }
    assert.ok(items.length > 20)
    assert.ok(counts.exchanged > 100 && counts.mismatched > 100, 'too few conditions were tested')
    assert.ok(counts.faults >= 4, 'some kind of fault did not occur')
    assert.ok(counts.unknown > 0 && counts.refused > 0, 'no operation failed because of a fault')
    assert.ok(counts.repeated > 0, 'no create was repeated')
  })
})

async function makeHistories({ operations, seed }: typeof options) {
  const redis = await startedRedis()
  const services = [await startService(redis.url), await startService(redis.url)]
  const random = randomNumbers(seed)
  const agent = new Agent({ keepAlive: true, maxSockets: clients })
  const items: Item[] = []
  const active: Item[] = [] // clients still start operations on these
  /** `exchanged` and `mismatched` are the numbers of conditional replaces that met their condition and failed it. */
  const counts = {
    operations: 0,
    exchanged: 0,
    mismatched: 0,
    unknown: 0,
    refused: 0,
    repeated: 0,
    faults: 0,
  }
  let lastNumber = 0
  let isOver = false

  function newNumber(): number {
    lastNumber += 1
    return lastNumber
  }

  async function call(
    operation: Operation,
    path: string,
    headers?: OutgoingHttpHeaders,
  ): Promise<Answer> {
    const service = services[random(services.length)] ?? assert.fail()
    const body = 'value' in operation ? `{"data":{"value":${operation.value}}}` : undefined
    const send = keptClient(service, agent)
    const answer = await send(methods[operation.kind], `/items${path}`, body, headers)
    if (answer.status === 503 || answer.status === 0) await delay(wait)
    return answer
  }

  async function createItem(): Promise<void> {
    const operation = { kind: 'create', value: newNumber() } as const
    const called = newNumber()
    const key = { 'idempotency-key': `${called}` }
    let answer = await call(operation, '', key)
    for (; answer.status !== 201; answer = await call(operation, '', key)) {
      assert.ok(answer.status === 0 || answer.status === 503, answer.text)
      counts.repeated += 1
    }
    const known = taggedIn(answer) ?? assert.fail(answer.text)
    const id = /"id":"([^"]+)"/.exec(answer.text)?.[1] ?? assert.fail(answer.text)
    const outcome = { kind: 'change', isDone: true } as const
    const events = [{ operation, outcome, called, answered: newNumber() }]
    const item = { id, events, left: used.operations, known }
    items.push(item)
    active.push(item)
    counts.operations += 1
  }

  function newOperation({ known }: Item): Operation {
    const choice = random(30)
    if (choice === 0) return { kind: 'delete' }
    if (choice < 8) return { kind: 'exchange', expected: known.value, value: newNumber() }
    return choice < 13 ? { kind: 'replace', value: newNumber() } : { kind: 'read' }
  }

  async function use(item: Item): Promise<void> {
    const operation = newOperation(item)
    const called = newNumber()
    const condition = operation.kind === 'exchange' ? { 'if-match': item.known.tag } : {}
    const answer = await call(operation, `/${item.id}`, condition)
    const outcome = outcomeOf(operation, answer)
    item.known = taggedIn(answer) ?? item.known
    if (outcome === 'refused') {
      counts.refused += 1
      return
    }
    counts.operations += 1
    if (outcome === undefined) counts.unknown += 1
    const answered = outcome === undefined ? Number.POSITIVE_INFINITY : newNumber()
    item.events.push({ operation, outcome, called, answered })
    if (answer.status === 412) counts.mismatched += 1
    if (answer.status === 200 && operation.kind === 'exchange') counts.exchanged += 1
    item.left -= 1
    if (operation.kind === 'delete') item.left = Math.min(item.left, used.whenDeleted)
    if (item.left === 0) active.splice(active.indexOf(item), 1) // below 0, the item is no longer active
  }

  async function work(): Promise<void> {
    while (counts.operations < operations) {
      const item = active[random(used.items)]
      if (item === undefined) await createItem()
      else await use(item)
    }
  }

  /** Adds a read of each item from a list. Returns the list's other ids, such as those of items made twice. */
  async function readAll(): Promise<string[]> {
    const list = () => call({ kind: 'read' }, '')
    const called = newNumber()
    let answer = await list()
    while (answer.status !== 200) answer = await list()
    const found = answer.text.matchAll(/"id":"([^"]+)","project_id":null,"value":(\d+)/g)
    const values = new Map(Array.from(found, ([, id = '', value]) => [id, Number(value)]))
    for (const { id, events } of items) {
      const outcome = { kind: 'read', value: values.get(id) } as const
      events.push({ operation: { kind: 'read' }, outcome, called, answered: newNumber() })
      values.delete(id)
    }
    return [...values.keys()]
  }

  /** Causes one fault after another. None makes the Redis server lose a change. */
  async function disturb(): Promise<void> {
    const faults = [
      async () => {
        await redis.kill('SIGSTOP')
        await delay(100 + random(500))
        await redis.kill('SIGCONT')
      },
      () => redis.command('client', 'pause', String(50 + random(400)), 'all'),
      () => redis.command('client', 'kill', 'type', 'normal'),
      async () => {
        const n = random(services.length)
        services[n]?.child.kill('SIGKILL')
        await services[n]?.ended()
        services[n] = await startService(redis.url)
      },
    ]
    for (; !isOver; counts.faults += 1) {
      await delay(pause)
      await faults[counts.faults % faults.length]?.()
    }
  }

  const works = Promise.all(Array.from({ length: clients }, work)).finally(() => {
    isOver = true
  })
  await Promise.all([works, disturb()])
  const strangers = await readAll()
  agent.destroy()
  for (const service of services) await service.stop()
  await redis.kill('SIGKILL')
  return { ...counts, items, strangers }
}

const JWT_SECRET = randomBytes(32).toString('base64url')

function startService(url: string): Promise<OwnService> {
  return ownService({ STORE_URL: url, STORE_TIMEOUT: `${storeTimeout}ms`, JWT_SECRET })
}

const methods = {
  create: 'POST',
  read: 'GET',
  replace: 'PUT',
  exchange: 'PUT',
  delete: 'DELETE',
} as const

function taggedIn({ status, headers: { etag: tag }, text }: Answer): Item['known'] | undefined {
  const value = /"value":(\d+)/.exec(text)?.[1]
  const isItem = (status === 200 || status === 201) && value !== undefined && tag !== undefined
  return isItem ? { value: Number(value), tag } : undefined
}

function outcomeOf({ kind }: Operation, { status, text }: Answer): Outcome | 'refused' | undefined {
  if (status === 0) return text === 'ECONNREFUSED' ? 'refused' : undefined
  if (status === 503) {
    return kind === 'read' || text.includes('nothing has changed') ? 'refused' : undefined
  }
  if (status === 412 && kind === 'exchange') return { kind: 'mismatch' }
  assert.ok([200, 204, 404].includes(status), text)
  if (kind !== 'read') return { kind: 'change', isDone: status !== 404 }
  const value = /"value":(\d+)/.exec(text)?.[1]
  return { kind: 'read', value: status === 404 ? undefined : Number(value) }
}

function lineOf({ operation, outcome, called, answered }: Event): string {
  return JSON.stringify({ ...operation, outcome, called, answered: String(answered) })
}
