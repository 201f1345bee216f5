/** Assertions about a service while its Redis server fails or recovers. */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { Answer } from '../../conformance/client.js'
import { create, record } from '../../conformance/expect.js'
import { assertRefused } from '../../decisions/expect.js'
import type { OwnService } from '../../support/own-service.js'
import { until } from '../../support/until.js'

/** Store timeout that a healthy server on a busy machine does not exceed. */
export const STORE_TIMEOUT = '1500ms'
export const unknownOutcome = /unknown whether the change took effect/
export const noChange = /nothing has changed/

export async function assertUnhealthy(service: OwnService): Promise<void> {
  const answer = await until('the service is unhealthy', async () => {
    const health = await service.request('GET', '/health')
    return health.status === 503 && health
  })
  const { status, services_summary, unhealthy_subsystems } = record(answer.json())
  assert.equal(status, 'unhealthy')
  assert.deepEqual(services_summary, { total: 2, healthy: 1, unhealthy: 1 })
  assert.deepEqual(unhealthy_subsystems, ['store'])
}

const [lost, back] = ['the store cannot be reached', 'the store can be reached again']

/** Waits until the log shows that the store is reachable. Returns the number of log lines. */
export async function linesBeforeOutage({ log }: OwnService): Promise<number> {
  await until('the log says that the store is back', () => {
    const last = log.findLast(({ msg }) => msg === lost || msg === back)
    return last?.msg !== lost
  })
  return log.length
}

/** @param since number of log lines to skip. */
export async function assertOneOutage(service: OwnService, since: number): Promise<void> {
  const all = () => service.log.slice(since)
  await until('the log says that the store is back', () => all().some(({ msg }) => msg === back))
  const said = all().flatMap(({ msg }) => (msg === lost || msg === back ? [msg] : []))
  assert.deepEqual(
    said,
    [lost, back],
    all()
      .map((line) => JSON.stringify(line))
      .join('\n'),
  )
}

export async function assertRecovers(service: OwnService): Promise<void> {
  await until('the service is healthy', async () => {
    return (await service.request('GET', '/health')).status === 200
  })
  const { id } = await create(service, { again: true })
  assert.equal((await service.call('GET', `/items/${id}`)).status, 200)
  assert.equal((await service.call('DELETE', `/items/${id}`)).status, 204)
}

export function assertUnavailable(answer: Answer, message: RegExp): void {
  assert.match(assertRefused(answer, 503, 'STORE_UNAVAILABLE'), message)
  assert.equal(answer.headers['retry-after'], '1')
}

/** @param outcome expected error message for changes. */
export async function assertNothingServed(service: OwnService, outcome: RegExp): Promise<void> {
  const path = `/items/${randomUUID()}`
  assertUnavailable(await service.call('GET', '/items'), /^The store [\w ]+$/)
  assertUnavailable(await service.call('GET', path), /^The store [\w ]+$/)
  assertUnavailable(await service.call('POST', '/items', { data: {} }), outcome)
  assertUnavailable(await service.call('PUT', path, { data: {} }), outcome)
  assertUnavailable(await service.call('DELETE', path), outcome)
}
