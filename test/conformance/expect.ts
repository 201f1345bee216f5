/** Checks responses against the specification. */

import assert from 'node:assert/strict'
import type { Answer, Service } from './client.js'

export type Item = Record<string, unknown> & { id: string }

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const uuidV4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i

export function assertSessionId(value: unknown): asserts value is string {
  assert.ok(
    typeof value === 'string' && uuidV4.test(value),
    `session_id is ${kind(value)}, expected a UUID of version 4`,
  )
}

export function assertUuid(value: unknown): asserts value is string {
  assert.ok(typeof value === 'string' && uuid.test(value), `id is ${kind(value)}, expected a UUID`)
}

export function record(value: unknown): Record<string, unknown> {
  if (!isRecord(value)) assert.fail(`a value is ${kind(value)}, expected an object`)
  return value
}

/** Returns the session id in a response body, at the top level or inside `detail` (spec §1.4, §7). */
export function sessionIdOf(answer: Answer): string {
  const { session_id, detail } = record(answer.json())
  const value = session_id ?? (isRecord(detail) ? detail.session_id : undefined)
  assertSessionId(value)
  return value
}

export function envelopeOf(answer: Answer, httpStatus: number): Record<string, unknown> {
  assert.equal(answer.status, httpStatus, 'status')
  const envelope = record(answer.json())
  assertSessionId(envelope.session_id)
  assert.equal(typeof envelope.message, 'string', 'the type of message')
  return envelope
}

export function itemOf(answer: Answer, httpStatus: number): Item {
  return asItem(envelopeOf(answer, httpStatus).data)
}

/** Returns the items of a list: its body is an array, or an envelope around one (spec §4.2). */
export function itemsOf(answer: Answer): Item[] {
  assert.equal(answer.status, 200, 'status')
  const body = answer.json()
  const items = Array.isArray(body) ? body : record(body).data
  assert.ok(Array.isArray(items), 'there is no array of items')
  return items.map(asItem)
}

export function assertError(answer: Answer, status: number, code: string): void {
  assert.equal(answer.status, status, 'status')
  const body = record(answer.json())
  assert.deepEqual(Object.keys(body), ['detail'], `the members of the body of a ${status}`)
  const detail = record(body.detail)
  assert.equal(detail.error_code, code, `error_code in a ${status}`)
  assertSessionId(detail.session_id)
  assert.ok(typeof detail.detail === 'string' && detail.detail !== '', `no message in a ${status}`)
}

/** Checks a 404 for an unknown item. Its message may have any wording, but must contain the item's id (spec §7). */
export function assertItemNotFound(answer: Answer, id: string): void {
  assert.equal(answer.status, 404, 'status')
  const { detail } = record(answer.json())
  const text = isRecord(detail) ? detail.detail : detail
  assert.ok(typeof text === 'string' && text.includes(id), 'no id in the detail of a 404')
}

export async function create(service: Service, data: object, projectId?: string): Promise<Item> {
  const request = projectId === undefined ? { data } : { data, project_id: projectId }
  return itemOf(await service.call('POST', '/items', request), 201)
}

export async function stored(service: Service, id: string): Promise<Item | undefined> {
  const answer = await service.call('GET', `/items/${id}`)
  return answer.status === 404 ? undefined : itemOf(answer, 200)
}

export async function listed(service: Service): Promise<Item[]> {
  return itemsOf(await service.call('GET', '/items'))
}

function asItem(value: unknown): Item {
  const item = record(value)
  if (!hasId(item)) assert.fail('an item has no id that is a string')
  return item
}

function hasId(value: Record<string, unknown>): value is Item {
  return typeof value.id === 'string'
}

export function listIn(header: string | undefined): string[] {
  return (header ?? '').split(',').map((name) => name.trim().toLowerCase())
}

/** Names the type, so that failures with the same cause have the same message. */
function kind(value: unknown): string {
  if (value === undefined) return 'missing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
