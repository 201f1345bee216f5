/** `npm run check -- fuzz --minutes 60` runs arbitrary conversations with a small service. */

import { readdirSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import fc from 'fast-check'
import { create } from '../../conformance/expect.js'
import { type OwnService, ownService, withLimits } from '../../support/own-service.js'
import { positive, say } from '../../support/report.js'
import { type Act, actsOf, Finding } from './acts.js'
import { type ConnectionPlan, conversation } from './conversation.js'
import { Ledger } from './ledger.js'
import { play } from './play.js'
import { makeRequest } from './request.js'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    conversations: { type: 'string', default: 'Infinity' }, // maximum number of conversations
    seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
    path: { type: 'string' },
  },
})
const end = Date.now() + positive('minutes', values.minutes) * 60_000
const most = positive('conversations', values.conversations)
const firstSeed = positive('seed', values.seed)

/** How long to wait for data, and for the service to release its resources, in milliseconds. */
const waitLimit = 20_000
const timeToGiveBack = 30_000
/** Replaces `waitLimit` during the search for a smaller failing conversation. */
const shortWaitLimit = 3_000
/** Maximum time to search for a smaller failing conversation, in milliseconds. */
const shrinkTime = 30_000

const maxBodyBytes = 250_000
const settings = { MAX_BODY_BYTES: String(maxBodyBytes), MAX_STORE_BYTES: '6000000' }
const hook = fileURLToPath(new URL('memory-hook.js', import.meta.url))
const [node, ...serve] = withLimits({ maxPendingBytes: 700_000 })
const command = [node, '--max-old-space-size=128', `--import=${hook}`, ...serve] as const

/** After each conversation, all items after the first `maxItems` are deleted. The first `keptItems` never change. */
const maxItems = 40
const keptItems = 5
/** Maximum memory in bytes, in addition to the idle service and the texts of its items. */
const allowedBytes = 4_000_000
/** Number of conversations between two memory measurements. */
const checkInterval = 20

const totals = { conversations: 0, requests: 0 }
const statuses = new Map<number, number>()
let finding: string | undefined
const isOver = () => Date.now() >= end || totals.conversations >= most
for (let seed = firstSeed; finding === undefined && !isOver(); seed += 1) {
  finding = await fuzz(seed, Math.min(200, most - totals.conversations))
  const { conversations, requests } = totals
  say(`seeds ${firstSeed} to ${seed}: ${conversations} conversations, ${requests} requests`)
  if (values.path !== undefined) break
}
const counts = [...statuses].sort(([a], [b]) => a - b)
say(`responses by status: ${counts.map(([status, count]) => `${status}: ${count}`).join(', ')}`)
say(finding === undefined ? 'no finding' : `FOUND: ${finding}`)
process.exit(finding === undefined ? 0 : 1)

function count(acts: readonly Act[]): void {
  totals.requests += acts.length
  for (const { answer } of acts) {
    if (answer !== undefined) statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
  }
}

/** Returns a finding with instructions to replay it; `undefined` if nothing was found. */
async function fuzz(seed: number, conversations: number): Promise<string | undefined> {
  const { path } = values
  let table: Awaited<ReturnType<typeof openTable>> | undefined
  let foundAt: number | undefined
  let firstError: unknown

  const property = fc.asyncProperty(conversation, async (plan) => {
    if (foundAt !== undefined && performance.now() - foundAt > shrinkTime) return
    table ??= await openTable()
    try {
      count(await table.converse(plan, foundAt === undefined ? waitLimit : shortWaitLimit))
    } catch (error) {
      foundAt ??= performance.now()
      firstError ??= error
      await table.service.stop().catch(() => undefined)
      table = undefined
      throw error
    }
  })
  const details = await fc.check(property, {
    seed,
    ...(path === undefined ? { numRuns: conversations } : { numRuns: 1, path, endOnFailure: true }),
  })
  totals.conversations += details.numRuns
  if (!details.failed) return await table?.close()
  const { counterexamplePath, errorInstance, counterexample } = details
  const [first] = (counterexamplePath ?? '').split(':')
  return [
    `seed ${seed}, path ${first}: ${firstError}`,
    `smaller: path ${counterexamplePath}: ${errorInstance}`,
    JSON.stringify(counterexample),
  ].join('\n')
}

async function openTable() {
  const service = await ownService(settings, command)
  const ledger = new Ledger()
  const sessionIds = new Set<string>()
  const tokens = {
    good: `Bearer ${service.validToken()}`,
    another: `bearer ${service.mint({ sub: 'another', exp: 4_000_000_000 })}`,
    forged: `Bearer ${service.validToken().slice(0, -2)}AA`,
    expired: `Bearer ${service.mint({ sub: 'a', exp: 1 })}`,
    basic: 'Basic YTpi',
    none: '',
  }
  // These items make the service allocate a slab and memory for scans, both of which it keeps.
  for (const length of [1, maxBodyBytes - 100]) {
    const { id } = await create(service, { text: 'x'.repeat(length) })
    await service.call('DELETE', `/items/${id}`)
  }
  const idle = { descriptors: descriptors(service), bytes: await bytesInUse(service) }
  let count = 0

  /** @throws {Finding} if a resource is not released within `time` milliseconds. */
  async function givenBack(what: string, time: number, isBack: () => unknown): Promise<void> {
    const deadline = performance.now() + time
    while (!(await isBack())) {
      if (performance.now() > deadline) throw new Finding(`${what} is not released`)
      await delay(5)
    }
  }

  return {
    service,
    async converse(plans: readonly ConnectionPlan[], time: number) {
      const known = [...[...ledger.items.keys()].slice(keptItems), ...ledger.deleted]
      const clients = await Promise.all(
        plans.map(async (connection, number) => {
          const ids = known.filter((_, place) => place % plans.length === number)
          const around = { tokens, ids, maxBodyBytes }
          const all = connection.requests.map((request) => makeRequest(request, around))
          const last = all.findIndex(({ isLast }) => isLast)
          // Most clients stop after the request that closes the connection. More bytes could make them lose a response.
          const isOverlong = connection.unsent === 0 && (all[last]?.plan.target ?? 0) % 4 === 0
          const requests = last < 0 || isOverlong ? all : all.slice(0, last + 1)
          return { ids, played: await play(service.baseUrl, connection, requests, time) }
        }),
      )
      needAlive(service)
      const acts = clients.map(({ ids, played }) => ({ ids, acts: actsOf(played, sessionIds) }))
      const back = Math.min(time * 1.5, timeToGiveBack)
      // A response here shows that all earlier connections have been accepted and have descriptors.
      await givenBack('a connection', back, () => isAnswering(service))
      await givenBack('a descriptor', back, () => descriptors(service) <= idle.descriptors)
      ledger.settle(acts, await list(service))
      await makeRoom(service, ledger)
      needAlive(service)
      count += 1
      if (count % checkInterval === 0) {
        const size = [...ledger.items.values()].reduce((sum, tail) => sum + tail.length + 64, 0)
        const allowed = idle.bytes + size + allowedBytes
        await givenBack('memory in use', back, async () => (await bytesInUse(service)) <= allowed)
      }
      return acts.flatMap((client) => client.acts)
    },
    async close() {
      const [code, signal] = await service.stop()
      return code === 0 ? undefined : `the service ended with ${signal ?? code}`
    },
  }
}

/** @throws {Finding} if the service has ended, or has logged an internal error. */
function needAlive({ child, log }: OwnService): void {
  const error = log.find(
    ({ level, error_code: code, msg }) =>
      code === 'INTERNAL_ERROR' || level === 'fatal' || /uncaught/.test(String(msg)),
  )
  if (error !== undefined) throw new Finding(`the service logged ${JSON.stringify(error)}`)
  if (child.exitCode !== null || child.signalCode !== null) {
    throw new Finding(`the service ended with ${child.signalCode ?? child.exitCode}`)
  }
}

function isAnswering(service: OwnService): Promise<boolean> {
  return service.call('GET', '/health').then(
    ({ status }) => status === 200,
    () => false,
  )
}

/** Lists all items as text with one character for each byte. */
async function list(service: OwnService): Promise<string> {
  const { status, text } = await service.call('GET', '/items')
  if (status !== 200) throw new Finding(`list after the conversation: ${status} ${text}`)
  return Buffer.from(text).toString('latin1')
}

async function makeRoom(service: OwnService, { items, deleted }: Ledger): Promise<void> {
  for (const id of [...items.keys()].slice(maxItems)) {
    const { status } = await service.call('DELETE', `/items/${id}`)
    if (status !== 204) throw new Finding(`delete of ${id} after the conversation: ${status}`)
    items.delete(id)
    deleted.push(id)
  }
}

function descriptors({ child }: OwnService): number {
  return readdirSync(`/proc/${child.pid}/fd`).length
}

async function bytesInUse({ child, log }: OwnService): Promise<number> {
  const before = log.length
  child.kill('SIGUSR2')
  for (let waited = 0; waited < waitLimit; waited += 5) {
    const line = log.slice(before).find(({ msg }) => msg === 'memory')
    if (line !== undefined) return Number(line.bytes)
    await delay(5)
  }
  throw new Finding('the service does not report its memory')
}
