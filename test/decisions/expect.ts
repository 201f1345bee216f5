/** Checks responses against the interface, including what the spec leaves open. */

import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import type { Answer, Service } from '../conformance/client.js'
import { assertSessionId, itemOf, record } from '../conformance/expect.js'

/** Checks the headers that every response must have (spec §1.4, §1.5). */
export function assertHeaders({ headers, text }: Answer): void {
  const sessionId = headers['x-session-id']
  assertSessionId(sessionId)
  if (text !== '') {
    assert.ok(text.includes(sessionId), 'the body has another session_id')
    assert.equal(headers['cache-control'], 'no-store')
  }
  assert.equal(headers['access-control-allow-origin'], '*')
  const exposed = String(headers['access-control-expose-headers']).toLowerCase().split(/, */)
  for (const name of [
    ...['x-session-id', 'www-authenticate', 'allow', 'retry-after', 'location'],
    ...['etag', 'preference-applied', 'idempotent-replayed'],
  ]) {
    assert.ok(exposed.includes(name), `${name} is not exposed`)
  }
}

/** Checks an error response (interface §7), and returns its message. */
export function assertRefused(answer: Answer, status: number, code: string | undefined): string {
  assert.equal(answer.status, status, answer.text)
  assert.match(String(answer.headers['content-type']), /^application\/json\b/)
  assertHeaders(answer)
  const body = record(answer.json())
  const { detail, ...rest } = record(body.detail)
  assert.deepEqual(Object.keys(body), ['detail'])
  assert.deepEqual(rest, {
    session_id: answer.headers['x-session-id'],
    ...(code === undefined ? {} : { error_code: code }),
  })
  assert.ok(typeof detail === 'string' && detail !== '', answer.text)
  return detail
}

/** Returns the JSON text of an envelope's `data`, which is the last member (interface §2.3). */
export function itemText({ text }: Answer): string {
  return text.slice(text.indexOf(',"data":') + ',"data":'.length, -1)
}

export function sendText(service: Service, method: string, path: string, body: string | Buffer) {
  return service.request(method, path, { token: service.validToken(), body })
}

export async function createText(service: Service, body: string | Buffer): Promise<string> {
  return itemOf(await sendText(service, 'POST', '/items', body), 201).id
}

/** Hides an item's id, so that test titles are the same in every run. */
export function shown(path: string): string {
  return path.replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/, '{item_id}')
}

export function statusesOf(answers: readonly Answer[]): number[] {
  return answers.map(({ status }) => status)
}

export function statusAndConnection({ status, headers }: Answer): unknown[] {
  return [status, headers.connection]
}

/** Returns the headers without `Date` and `X-Session-ID`, which differ in every response. */
export function lasting({ headers }: Answer): object {
  const { date, 'x-session-id': id, ...others } = headers
  return others
}

export async function newItem(service: Service): Promise<{ path: string; tag: string }> {
  const answer = await service.call('POST', '/items', { data: { a: 1 } })
  return { path: `/items/${itemOf(answer, 201).id}`, tag: String(answer.headers.etag) }
}

export async function tagOf(service: Service, path: string): Promise<string> {
  return String((await service.call('GET', path)).headers.etag)
}

export function readWaiting(
  service: Service,
  path: string,
  tag: string,
  prefer: string,
  { method = 'GET', token = service.validToken() } = {},
): Promise<Answer> {
  const headers = { 'if-none-match': tag, prefer }
  return service.request(method, path, { token, headers })
}

export async function isPending(answer: Promise<Answer>, time = 200): Promise<boolean> {
  return (await Promise.race([answer, delay(time, 'pending')])) === 'pending'
}
