/** `npm run check -- fuzz --minutes 60` plays random conversations between clients and a service with low limits. */

import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { create } from '../../conformance/expect.js'
import { type OwnService, ownService, withLimits } from '../../support/own-service.js'
import { until } from '../../support/process.js'
import { numbers, say } from '../../support/report.js'
import { type Act, actsOf } from './acts.js'
import { type ConnectionPlan, conversation } from './conversation.js'
import { Ledger } from './ledger.js'
import { play } from './play.js'
import { makeRequest } from './request.js'

const options = numbers({ minutes: 60, conversations: 1e9, seed: (Date.now() % 1e9) + 1 })
const end = Date.now() + options.minutes * 60_000
const waitLimit = 20_000 // ms until the service sends data or releases its resources
const shrinkTime = 300_000 // ms to search for a smaller failing conversation

const maxBodyBytes = 250_000
const settings = { MAX_BODY_BYTES: String(maxBodyBytes), MAX_STORE_BYTES: '6000000' }
const hook = fileURLToPath(new URL('memory-hook.js', import.meta.url))
const [node, ...serve] = withLimits({ maxPendingBytes: 700_000 })
const command = [node, '--max-old-space-size=128', `--import=${hook}`, ...serve] as const

/** After each conversation, all items except the oldest `maxItems` are deleted. The oldest `keptItems` never change. */
const maxItems = 40
const keptItems = 5
const allowedBytes = 4_000_000 // bytes above the idle service's memory, without the text of items
const checkInterval = 20 // conversations between memory measurements

const totals = { conversations: 0, requests: 0 }
const statuses = new Map<number, number>()
let finding: string | undefined
const isOver = () => Date.now() >= end || totals.conversations >= options.conversations
for (let { seed } = options; finding === undefined && !isOver(); seed += 1) {
  finding = await fuzz(seed, Math.min(200, options.conversations - totals.conversations))
  const { conversations, requests } = totals
  say(`seeds ${options.seed} to ${seed}: ${conversations} conversations, ${requests} requests`)
}
const counts = [...statuses].sort(([a], [b]) => a - b)
say(`responses by status: ${counts.map(([status, count]) => `${status}: ${count}`).join(', ')}`)
say(finding === undefined ? 'no finding' : `FOUND: ${finding}`)
process.exit(finding === undefined ? 0 : 1)

/** Returns the error, with a small conversation that reproduces it; `undefined` if there was none. */
async function fuzz(seed: number, conversations: number): Promise<string | undefined> {
  let table: Awaited<ReturnType<typeof openTable>> | undefined
  const property = fc.asyncProperty(conversation, async (plan) => {
    table ??= await openTable()
    try {
      count(await table.converse(plan))
    } catch (error) {
      await table.service.stop().catch(() => undefined)
      table = undefined
      throw error
    }
  })
  const found = await fc.check(property, { seed, numRuns: conversations, endOnFailure: true })
  totals.conversations += found.numRuns
  if (!found.failed) return await table?.close()
  const path = found.counterexamplePath ?? ''
  const limit = { interruptAfterTimeLimit: shrinkTime }
  const { errorInstance, counterexample } = await fc.check(property, { seed, path, ...limit })
  return [
    `seed ${seed}: ${found.errorInstance}`,
    `smaller: ${errorInstance}`,
    JSON.stringify(counterexample ?? found.counterexample),
  ].join('\n')
}

function count(acts: readonly Act[]): void {
  totals.requests += acts.length
  for (const { answer } of acts) {
    if (answer !== undefined) statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
  }
}

async function openTable() {
  const service = await ownService(settings, command)
  const ledger = new Ledger()
  const tokens = {
    good: `Bearer ${service.validToken()}`,
    another: `bearer ${service.mint({ sub: 'another', exp: 4_000_000_000 })}`,
    forged: `Bearer ${service.validToken().slice(0, -2)}AA`,
    expired: `Bearer ${service.mint({ sub: 'a', exp: 1 })}`,
    basic: 'Basic YTpi',
    none: '',
  }
  // First makes the service allocate the memory that it never frees: a slab for items, and space for scans.
  for (const length of [1, maxBodyBytes - 100]) {
    const { id } = await create(service, { text: 'x'.repeat(length) })
    await service.call('DELETE', `/items/${id}`)
  }
  const idle = { descriptors: descriptors(service), bytes: await bytesInUse(service) }
  let count = 0

  return {
    service,
    async converse(plans: readonly ConnectionPlan[]) {
      const known = [...[...ledger.items.keys()].slice(keptItems), ...ledger.deleted]
      const clients = await Promise.all(
        plans.map(async (connection, number) => {
          const ids = known.filter((_, place) => place % plans.length === number)
          const around = { tokens, ids, maxBodyBytes }
          const all = connection.requests.map((request) => makeRequest(request, around))
          const last = all.findIndex(({ isLast }) => isLast)
          // Most clients stop after a request that closes the connection. Sending more could lose them its response.
          const isOverlong = connection.unsent === 0 && (all[last]?.plan.target ?? 0) % 4 === 0
          const requests = last < 0 || isOverlong ? all : all.slice(0, last + 1)
          return { ids, played: await play(service.baseUrl, connection, requests, waitLimit) }
        }),
      )
      const acts = clients.map(({ ids, played }) => ({ ids, acts: actsOf(played) }))
      // Once this request is answered, all earlier connections have been accepted, and have descriptors.
      const health = () => service.call('GET', '/health').catch(() => undefined)
      await until('a response', health, waitLimit)
      const isClosed = () => descriptors(service) <= idle.descriptors
      await until('the release of descriptors', isClosed, waitLimit)
      ledger.settle(acts, await list(service))
      await makeRoom(service, ledger)
      needAlive(service)
      count += 1
      if (count % checkInterval === 0) {
        const size = [...ledger.items.values()].reduce((sum, tail) => sum + tail.length + 64, 0)
        const allowed = idle.bytes + size + allowedBytes
        const isFreed = async () => (await bytesInUse(service)) <= allowed
        await until('the release of memory', isFreed, waitLimit)
      }
      return acts.flatMap((client) => client.acts)
    },
    async close() {
      const [code, signal] = await service.stop()
      return code === 0 ? undefined : `the service ended with ${signal ?? code}`
    },
  }
}

/** @throws {Error} if the service has exited, or has logged an internal error. */
function needAlive({ child, log }: OwnService): void {
  const error = log.find(
    ({ level, error_code: code, msg }) =>
      code === 'INTERNAL_ERROR' || level === 'fatal' || /uncaught/.test(String(msg)),
  )
  if (error !== undefined) throw new Error(`the service logged ${JSON.stringify(error)}`)
  if (child.exitCode !== null || child.signalCode !== null) {
    throw new Error(`the service ended with ${child.signalCode ?? child.exitCode}`)
  }
}

async function list(service: OwnService): Promise<string> {
  const { status, text } = await service.call('GET', '/items')
  if (status !== 200) throw new Error(`list after the conversation: ${status} ${text}`)
  return Buffer.from(text).toString('latin1')
}

async function makeRoom(service: OwnService, { items, deleted }: Ledger): Promise<void> {
  for (const id of [...items.keys()].slice(maxItems)) {
    const { status } = await service.call('DELETE', `/items/${id}`)
    if (status !== 204) throw new Error(`delete of ${id} after the conversation: ${status}`)
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
  const line = await until('the memory in use', () =>
    log.slice(before).find(({ msg }) => msg === 'memory'),
  )
  return Number(line.bytes)
}
