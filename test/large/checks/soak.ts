/**
 * `npm run check -- soak --minutes 10`: keeps the service busy with creates, reads, replaces, deletes,
 * lists and invalid input, checks every response, and watches the memory. Ends with code 1 if a
 * response was not the expected one, or if memory kept growing after the first minute.
 */

import { Agent } from 'node:http'
import { record } from '../../conformance/expect.js'
import { keptClient } from '../../support/kept-client.js'
import { ownService } from '../../support/own-service.js'
import { residentBytes } from '../../support/process.js'
import { numbers, say } from './report.js'

interface Item {
  readonly id: string
  /** JSON text. */
  readonly value: string
}

/** What is wrong with the answer, if anything is. */
type Problem = string | undefined

const { minutes } = numbers({ minutes: 10 })
const workers = 16
const heldItems = 5000
const allowedGrowth = 0.05

const service = await ownService()
const call = keptClient(service, new Agent({ keepAlive: true, maxSockets: workers }))

/** The stored items; one that a worker is using is taken out in the meantime. */
const items: Item[] = []
const counts = new Map<string, number>()
const unexpected: string[] = []
const end = Date.now() + minutes * 60_000

/** What the workers do, each as often as its weight says. */
const acts: { name: string; weight: number; act: () => Promise<Problem> }[] = [
  { name: 'read', weight: 6, act: () => withItem(read) },
  { name: 'replace', weight: 3, act: () => withItem(replace) },
  {
    name: 'create',
    weight: 2,
    act: () => (items.length < heldItems * 1.1 ? create() : withItem(remove)),
  },
  { name: 'delete', weight: 2, act: () => withItem(remove) },
  { name: 'bad', weight: 1, act: bad },
  { name: 'list', weight: 0.05, act: list },
]
const totalWeight = acts.reduce((sum, { weight }) => sum + weight, 0)

const samples: number[] = []
const sampler = setInterval(() => samples.push(residentBytes(service) / 2 ** 20), 1000)
await Promise.all(Array.from({ length: workers }, work))
clearInterval(sampler)
const [code] = await service.stop()
process.exit(report() ? 0 : 1)

async function work(): Promise<void> {
  while (Date.now() < end) {
    let place = Math.random() * totalWeight
    const chosen = acts.find(({ weight }) => {
      place -= weight
      return place < 0
    })
    if (chosen === undefined) continue
    const problem = await chosen.act()
    counts.set(chosen.name, (counts.get(chosen.name) ?? 0) + 1)
    if (problem !== undefined) unexpected.push(`${chosen.name}: ${problem}`)
  }
}

async function create(): Promise<Problem> {
  const value = randomText()
  const { status, text } = await call('POST', '/items', `{"data":{"v":${value}}}`)
  if (status !== 201 || !text.includes(`"v":${value}`)) return `${status} ${text.slice(0, 200)}`
  items.push({ id: String(record(record(JSON.parse(text)).data).id), value })
  return undefined
}

async function withItem(use: (item: Item) => Promise<Problem>): Promise<Problem> {
  const place = Math.floor(Math.random() * items.length)
  const item = items[place]
  const last = items.at(-1)
  if (items.length < heldItems || item === undefined || last === undefined) return await create()
  items[place] = last
  items.pop()
  return await use(item)
}

async function read(item: Item): Promise<Problem> {
  const path = `/items/${item.id}`
  const problem = await expect('GET', path, undefined, 200, `"v":${item.value}}`)
  items.push(item)
  return problem
}

async function replace({ id }: Item): Promise<Problem> {
  const value = randomText()
  const body = `{"data":{"v":${value}}}`
  const problem = await expect('PUT', `/items/${id}`, body, 200, `"v":${value}}`)
  items.push({ id, value })
  return problem
}

async function remove({ id }: Item): Promise<Problem> {
  return await expect('DELETE', `/items/${id}`, undefined, 204, '')
}

async function list(): Promise<Problem> {
  const { status, text } = await call('GET', '/items')
  const isList = status === 200 && Array.isArray(record(JSON.parse(text)).data)
  return isList ? undefined : `${status} ${text.slice(0, 200)}`
}

async function bad(): Promise<Problem> {
  const choices = [
    () => expect('POST', '/items', '{"data":[]}', 422, 'session_id'),
    () => expect('POST', '/items', '{"data":{"a":1,}}', 422, 'session_id'),
    () => expect('POST', '/items', `{"data":${'['.repeat(50_000)}}`, 422, 'session_id'),
    () => expect('POST', '/items', '\uFFFE', 422, 'session_id'),
    () => expect('POST', '/nowhere', '{}', 404, 'session_id'),
    () => expect('POST', '/health', '{}', 405, 'session_id'),
  ]
  return await choices[Math.floor(Math.random() * choices.length)]?.()
}

/** @param part what the text of the answer has to contain. */
async function expect(
  method: string,
  path: string,
  body: string | undefined,
  status: number,
  part: string,
): Promise<Problem> {
  const answer = await call(method, path, body)
  if (answer.status === status && answer.text.includes(part)) return undefined
  return `${answer.status} ${answer.text.slice(0, 200)}`
}

/** A JSON string of a length that is mostly small and sometimes large. */
function randomText(): string {
  const length = Math.random() < 0.02 ? 20_000 * Math.random() : 400 * Math.random()
  return `"${'x'.repeat(length)}${Math.random()}"`
}

/** Says what was found. @returns whether it is as it has to be. */
function report(): boolean {
  for (const [name, count] of [...counts].sort()) say(`${name.padEnd(8)} ${count}`)
  for (const problem of unexpected.slice(0, 20)) say(`unexpected: ${problem}`)
  const settled = samples.slice(Math.min(60, samples.length >> 1))
  const tenth = Math.max(1, Math.floor(settled.length / 10))
  const before = median(settled.slice(0, tenth))
  const after = median(settled.slice(-tenth))
  const growth = after / before - 1
  say(`unexpected responses: ${unexpected.length}; exit code of the service: ${code}`)
  say(
    `resident memory: ${before.toFixed(1)} MB after the first minute, ${after.toFixed(1)} MB at the ` +
      `end (${(growth * 100).toFixed(1)} %)`,
  )
  return unexpected.length === 0 && code === 0 && growth <= allowedGrowth
}

function median(numbers: number[]): number {
  return [...numbers].sort((a, b) => a - b)[numbers.length >> 1] ?? Number.NaN
}
