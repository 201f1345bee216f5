/** Tests create requests that are safe to repeat (interface §4.11). */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { Answer } from '../conformance/client.js'
import { itemOf, itemsOf } from '../conformance/expect.js'
import { useService } from '../conformance/service.js'
import { validClaims } from '../conformance/tokens.js'
import { assertRefused } from './expect.js'

const service = await useService()

function post(key: string, data = { a: 1 }, token = service.validToken()): Promise<Answer> {
  const body = JSON.stringify({ data })
  return service.request('POST', '/items', { token, headers: { 'idempotency-key': key }, body })
}

test('§4.11 the same key and body create one item, and the second response is marked as a replay', async () => {
  const key = randomUUID().padEnd(255, '~') // the maximum length
  const [first, again] = [await post(key), await post(key)]
  assert.deepEqual(itemOf(again, 201), itemOf(first, 201))
  assert.match(itemOf(first, 201).id, /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-/)
  for (const name of ['etag', 'location']) assert.equal(again.headers[name], first.headers[name])
  assert.equal(first.headers['idempotent-replayed'], undefined)
  assert.equal(again.headers['idempotent-replayed'], 'true')
  const listed = itemsOf(await service.call('GET', '/items'))
  assert.equal(listed.filter(({ id }) => id === itemOf(first, 201).id).length, 1)
})

test('§4.11 of many concurrent creates with one key, one creates the item and the others are replays', async () => {
  const key = randomUUID()
  const answers = await Promise.all(Array.from({ length: 20 }, () => post(key)))
  const ids = new Set(answers.map((answer) => itemOf(answer, 201).id))
  assert.equal(ids.size, 1)
  const created = answers.filter(({ headers }) => headers['idempotent-replayed'] === undefined)
  assert.equal(created.length, 1)
})

test('§4.11 another key, or another caller with the same key, creates another item', async () => {
  const key = randomUUID()
  const other = service.mint({ ...validClaims(), sub: 'somebody else' })
  const answers = [await post(key), await post(`${key}2`), await post(key, { a: 1 }, other)]
  assert.equal(new Set(answers.map((answer) => itemOf(answer, 201).id)).size, 3)
})

test('§4.11 a key that was used for another body, or for an item that has been replaced, is a 409 with Location', async () => {
  const key = randomUUID()
  const first = await post(key)
  const path = `/items/${itemOf(first, 201).id}`
  const assertConflict = async (answer: Answer, a: number) => {
    assertRefused(answer, 409, 'IDEMPOTENCY_CONFLICT')
    assert.equal(answer.headers.location, first.headers.location)
    assert.equal(itemOf(await service.call('GET', path), 200).a, a)
  }
  await assertConflict(await post(key, { a: 2 }), 1)
  await service.call('PUT', path, { data: { a: 2 } })
  await assertConflict(await post(key), 2)
})

test('§4.11 a deleted item is created again by its key, with the same id', async () => {
  const key = randomUUID()
  const { id } = itemOf(await post(key), 201)
  await service.call('DELETE', `/items/${id}`)
  const anew = await post(key)
  assert.equal(itemOf(anew, 201).id, id)
  assert.equal(anew.headers['idempotent-replayed'], undefined)
})

test('§4.11 a key in quotes is the same key as without quotes', async () => {
  const key = randomUUID()
  const { id } = itemOf(await post(key), 201)
  assert.equal(itemOf(await post(`"${key}"`), 201).id, id)
  const odd = await post(`"a\\"${key}"`)
  assert.equal(itemOf(await post(`a"${key}`), 201).id, itemOf(odd, 201).id)
})

for (const key of ['', '""', 'x'.repeat(256), 'a b', '"a b"', '"open', '"a\\b"', 'é', '"a", "b"']) {
  test(`§4.11 a malformed Idempotency-Key is a 400: ${key.slice(0, 20)}`, async () => {
    const message = assertRefused(await post(key), 400, 'BAD_REQUEST')
    assert.match(message, /Idempotency-Key/)
  })
}
