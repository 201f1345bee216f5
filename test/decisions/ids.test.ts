/** Decisions on §4.4: ids in the path, and targets that are not plain paths. */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { create, itemOf, listed, stored } from '../conformance/expect.js'
import { useService } from '../conformance/service.js'
import { assertRefused } from './expect.js'

const service = await useService()
const prefix = service.baseUrl.pathname
const item = await create(service, { kept: 1 }, 'kept')
const replacement = { data: { a: 2 } }

/** Ids as they stand in the path and, where it differs, in the message. */
const noIds: { title: string; path: string; id?: string }[] = [
  { title: 'unknown', path: randomUUID() },
  { title: 'unknown, in upper case', path: randomUUID().toUpperCase() },
  { title: 'not a UUID', path: 'not-a-uuid' },
  { title: 'a number', path: '0' },
  { title: 'a UUID without dashes', path: item.id.replaceAll('-', '') },
  { title: 'a UUID in braces', path: `%7B${item.id}%7D`, id: `{${item.id}}` },
  { title: 'a UUID as a URN', path: `urn:uuid:${item.id}` },
  { title: 'a UUID with a character more', path: `${item.id}0` },
  { title: 'a UUID with a character less', path: item.id.slice(0, -1) },
  { title: 'a UUID after a space', path: `%20${item.id}`, id: ` ${item.id}` },
  { title: 'a UUID before a NUL', path: `${item.id}%00`, id: `${item.id}\u0000` },
  { title: '__proto__', path: '__proto__' },
  { title: 'constructor', path: 'constructor' },
  { title: 'letters beyond ASCII', path: '%C3%A9%F0%9F%A6%84', id: 'é🦄' },
  { title: 'quotes and escapes', path: '%22%5C%0A', id: '"\\\n' },
  { title: 'an escaped slash', path: 'a%2Fb', id: 'a/b' },
  { title: 'a percent sign', path: '%25zz', id: '%zz' },
  { title: '101 characters long', path: 'x'.repeat(101) },
  { title: '9,000 characters long', path: 'x'.repeat(9_000) },
]
for (const { title, path, id = path } of noIds) {
  test(`§4.4 §7 id ${title}: 404 without error_code, the message is "Item <id> not found"`, async () => {
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const value = method === 'PUT' ? replacement : undefined
      const answer = await service.call(method, `/items/${path}`, value)
      assert.equal(assertRefused(answer, 404, undefined), `Item ${id} not found`)
    }
    assert.deepEqual(await stored(service, item.id), item)
  })

  test(`§5.1 id ${title}, without a token: 401`, async () => {
    assertRefused(await service.request('GET', `/items/${path}`), 401, 'MISSING_TOKEN')
  })
}

const spellings = [
  { title: 'in upper case', spell: (id: string) => id.toUpperCase() },
  { title: 'in mixed case', spell: (id: string) => id.slice(0, 18).toUpperCase() + id.slice(18) },
  { title: 'percent-encoded', spell: (id: string) => id.replaceAll('-', '%2D') },
]
for (const { title, spell } of spellings) {
  test(`§4.4 an id ${title} is the same id`, async () => {
    const { id } = await create(service, { a: 1 })
    const path = `/items/${spell(id)}`
    assert.deepEqual(itemOf(await service.call('GET', path), 200), { id, project_id: null, a: 1 })
    const replaced = itemOf(await service.call('PUT', path, replacement), 200)
    assert.deepEqual(replaced, { id, project_id: null, a: 2 })
    assert.equal((await listed(service)).filter((other) => other.id === id).length, 1)
    assert.equal((await service.call('DELETE', path)).status, 204)
    assert.equal(await stored(service, id), undefined)
  })
}

const undecodable = ['/items/%', '/items/%zz', '/items/%E0%A4%A', '/items/%FF', '/%', '/items%']
for (const path of undecodable) {
  test(`§7 ${path} cannot be decoded: 400 BAD_REQUEST`, async () => {
    for (const method of ['GET', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
      assertRefused(await service.request(method, path), 400, 'BAD_REQUEST')
    }
  })
}

const oddTargets = [
  `${prefix}/%69tems`,
  `${prefix}/ite%6ds/`,
  `${prefix}//items`,
  `/${prefix}/items`,
  `${prefix}/./items`,
  `${prefix}/x/../items`,
  `${prefix}/%2e/items`,
  `${prefix};a=b/items`,
  `${prefix}/items;a=b`,
  `${prefix}/items%00`,
  `${prefix}/items%2F`,
  `${prefix}/items#a`,
  `${prefix.toUpperCase()}/ITEMS`,
  `${service.baseUrl.origin}${prefix}/items`,
  `http://elsewhere.example${prefix}/items`,
  `//elsewhere.example${prefix}/items`,
  `${prefix}/health/../items`,
  `${prefix}/health%2F..%2Fitems`,
]
for (const target of oddTargets) {
  const shown = target.replace(service.baseUrl.host, '<host>')
  test(`§5.1 ${shown} is never served without a token`, async () => {
    const mark = randomUUID()
    const body = JSON.stringify({ data: {}, project_id: mark })
    for (const [method, options] of [
      ['GET', {}],
      ['POST', { body }],
    ] as const) {
      const answer = await service.requestTarget(method, target, options)
      assert.ok([400, 401, 404].includes(answer.status), `${method}: ${answer.status}`)
      assert.ok(!answer.text.includes(item.id))
    }
    assert.ok((await listed(service)).every(({ project_id }) => project_id !== mark))
  })
}

test('§4 a target in absolute form is the same as its path (RFC 9112 §3.2.2)', async () => {
  const target = `${service.baseUrl.origin}${prefix}/items/${item.id}`
  assertRefused(await service.requestTarget('GET', target), 401, 'MISSING_TOKEN')
  const answer = await service.requestTarget('GET', target, { token: service.validToken() })
  assert.deepEqual(itemOf(answer, 200), item)
})
