/** Starts services for tests of faults, and checks them while Redis servers fail or recover. */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { Answer } from '../../conformance/client.js'
import { create, itemsOf, record, stored } from '../../conformance/expect.js'
import { assertRefused } from '../../decisions/expect.js'
import { type OwnService, ownService } from '../../support/own-service.js'
import { until } from '../../support/process.js'

export const STORE_TIMEOUT = '1500ms' // enough for a healthy server on a busy machine
export const patient = { STORE_TIMEOUT: '20s' } // for tests without faults
export const unknownOutcome = /unknown whether the change took effect/
export const noChange = /nothing has changed/

export function serviceOn(STORE_URL: string, env: NodeJS.ProcessEnv = {}): Promise<OwnService> {
  return ownService({ STORE_URL, STORE_TIMEOUT, ...env })
}

export async function assertUnhealthy({ request }: OwnService): Promise<void> {
  const answer = await until('the service is unhealthy', async () => {
    const health = await request('GET', '/health')
    return health.status === 503 && health
  })
  const { status, services_summary, unhealthy_subsystems } = record(answer.json())
  assert.equal(status, 'unhealthy')
  assert.deepEqual(services_summary, { total: 2, healthy: 1, unhealthy: 1 })
  assert.deepEqual(unhealthy_subsystems, ['store'])
}

/** Waits until the service is unhealthy, and checks that all item requests then fail and change nothing. */
export async function assertDown(service: OwnService): Promise<void> {
  await assertUnhealthy(service)
  const path = `/items/${randomUUID()}`
  assertUnavailable(await service.call('GET', '/items'), /^The store [\w ]+$/)
  assertUnavailable(await service.call('GET', path), /^The store [\w ]+$/)
  assertUnavailable(await service.call('POST', '/items', { data: {} }), noChange)
  assertUnavailable(await service.call('PUT', path, { data: {} }), noChange)
  assertUnavailable(await service.call('DELETE', path), noChange)
}

export async function assertServes(service: OwnService): Promise<void> {
  const { call, request } = service
  await until(
    'the service is healthy',
    async () => (await request('GET', '/health')).status === 200,
  )
  const { id } = await create(service, { name: 'a' })
  const path = `/items/${id}`
  assert.equal((await call('PUT', path, { data: { name: 'b' } })).status, 200)
  assert.equal((await stored(service, id))?.name, 'b')
  assert.ok(itemsOf(await call('GET', '/items')).some((item) => item.id === id))
  assert.equal((await call('DELETE', path)).status, 204)
}

export function assertUnavailable(answer: Answer, message: RegExp): void {
  assert.match(assertRefused(answer, 503, 'STORE_UNAVAILABLE'), message)
  assert.equal(answer.headers['retry-after'], '1')
}

const [lost, back] = ['the store cannot be reached', 'the store can be reached again']

export function causeIn({ log }: OwnService): string {
  return String(log.find(({ msg }) => msg === lost)?.cause)
}

/** Waits until the log shows that the store is reachable, and returns the number of log lines so far. */
export async function linesBeforeOutage({ log }: OwnService): Promise<number> {
  await until('the log says that the store is back', () => {
    return log.findLast(({ msg }) => msg === lost || msg === back)?.msg !== lost
  })
  return log.length
}

export async function assertOneOutage({ log }: OwnService, since: number): Promise<void> {
  const said = () => log.slice(since).filter(({ msg }) => msg === lost || msg === back)
  await until('the log says that the store is back', () => said().some(({ msg }) => msg === back))
  const outage = said().map(({ msg }) => msg)
  assert.deepEqual(outage, [lost, back], JSON.stringify(said()))
}
