/** Decisions on §4.11: creates that are safe to repeat. */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { Answer } from '../conformance/client.js'
import { itemOf, itemsOf } from '../conformance/expect.js'
import { useService } from '../conformance/service.js'
import { validClaims } from '../conformance/tokens.js'
import { assertRefused } from './expect.js'

const service = await useService()

function post(
  key: string,
  data: unknown = { a: 1 },
  token = service.validToken(),
): Promise<Answer> {
  const body = JSON.stringify({ data })
  return service.request('POST', '/items', { token, headers: { 'idempotency-key': key }, body })
}

test('§4.11 the same key and body make one item; the second answer says so', async () => {
  const key = randomUUID()
  const [first, again] = [await post(key), await post(key)]
  assert.deepEqual(itemOf(again, 201), itemOf(first, 201))
  assert.match(itemOf(first, 201).id, /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-/)
  for (const name of ['etag', 'location']) assert.equal(again.headers[name], first.headers[name])
  assert.equal(first.headers['idempotent-replayed'], undefined)
  assert.equal(again.headers['idempotent-replayed'], 'true')
  const listed = itemsOf(await service.call('GET', '/items'))
  assert.equal(listed.filter(({ id }) => id === itemOf(first, 201).id).length, 1)
})

test('§4.11 sent many times at once, one creates and the others are replays', async () => {
  const key = randomUUID()
  const answers = await Promise.all(Array.from({ length: 20 }, () => post(key)))
  const ids = new Set(answers.map((answer) => itemOf(answer, 201).id))
  assert.equal(ids.size, 1)
  const created = answers.filter(({ headers }) => headers['idempotent-replayed'] === undefined)
  assert.equal(created.length, 1)
})

test('§4.11 another key, or another caller, makes another item', async () => {
  const key = randomUUID()
  const other = service.mint({ ...validClaims(), sub: 'somebody else' })
  const answers = [await post(key), await post(`${key}2`), await post(key, { a: 1 }, other)]
  assert.equal(new Set(answers.map((answer) => itemOf(answer, 201).id)).size, 3)
})

test('§4.11 the key was used for another body, or the item has been replaced: 409 with its Location', async () => {
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

test('§4.11 the item has been deleted since: it is created anew', async () => {
  const key = randomUUID()
  const { id } = itemOf(await post(key), 201)
  await service.call('DELETE', `/items/${id}`)
  const anew = await post(key)
  assert.equal(itemOf(anew, 201).id, id)
  assert.equal(anew.headers['idempotent-replayed'], undefined)
})

test('§4.11 a key in quotes is the same as without', async () => {
  const key = randomUUID()
  const { id } = itemOf(await post(key), 201)
  assert.equal(itemOf(await post(`"${key}"`), 201).id, id)
  const odd = await post(`"a\\"${key}"`)
  assert.equal(itemOf(await post(`a"${key}`), 201).id, itemOf(odd, 201).id)
})

test('§4.11 255 characters are a key', async () => {
  assert.equal((await post(`${randomUUID()}${'~'.repeat(219)}`)).status, 201)
})

const malformed = [
  ...['', '""', 'x'.repeat(256), 'a b', '\xa0a', '"a b"', '"open', '"a"b', '"a\\b"', 'é'],
  '"a", "b"',
]
for (const key of malformed) {
  test(`§4.11 Idempotency-Key: ${key.slice(0, 20)} is a 400`, async () => {
    const message = assertRefused(await post(key), 400, 'BAD_REQUEST')
    assert.match(message, /Idempotency-Key/)
  })
}
