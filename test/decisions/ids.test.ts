/** Tests what spec §4 and §4.4 leave open about ids in the path and unusual request targets. */

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

/** Unknown ids, as written in a path. The third element is the id in the error message, if it differs. */
const noIds: [title: string, path: string, id?: string][] = [
  ['an unknown UUID', randomUUID()],
  ['a text that is not a UUID', 'not-a-uuid'],
  ['a UUID without dashes', item.id.replaceAll('-', '')],
  ['a UUID with one character too many', `${item.id}0`],
  ['a UUID before a NUL', `${item.id}%00`, `${item.id}\u0000`],
  ['__proto__', '__proto__'],
  ['quotes and escapes', '%22%5C%0A', '"\\\n'],
  ['an escaped slash', 'a%2Fb', 'a/b'],
  ['a percent sign', '%25zz', '%zz'],
  ['9,000 characters long', 'x'.repeat(9_000)],
]
for (const [title, path, id = path] of noIds) {
  test(`§4.4 §7 an unknown id is a 404 without error_code and with "Item <id> not found": ${title}`, async () => {
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const value = method === 'PUT' ? replacement : undefined
      const answer = await service.call(method, `/items/${path}`, value)
      assert.equal(assertRefused(answer, 404, undefined), `Item ${id} not found`)
    }
    assert.deepEqual(await stored(service, item.id), item)
    assertRefused(await service.request('GET', `/items/${path}`), 401, 'MISSING_TOKEN')
  })
}

const spellings: [title: string, spell: (id: string) => string][] = [
  ['in upper case', (id) => id.toUpperCase()],
  ['percent-encoded', (id) => id.replaceAll('-', '%2D')],
]
for (const [title, spell] of spellings) {
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

const undecodable = ['/items/%zz', '/items/%E0%A4%A', '/items/%FF', '/items%']
for (const path of undecodable) {
  test(`§7 ${path} cannot be decoded: 400 BAD_REQUEST`, async () => {
    for (const method of ['GET', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
      assertRefused(await service.request(method, path), 400, 'BAD_REQUEST')
    }
  })
}

const oddTargets = [
  ...['/%69tems', '/ite%6ds/', '//items', '/./items', '/x/../items', '/items;a=b', '/items%00'],
  ...['/items%2F', '/items#a', '/health%2F..%2Fitems'],
].map((path) => prefix + path)
oddTargets.push(
  ...[`/${prefix}/items`, `${prefix.toUpperCase()}/ITEMS`],
  ...[`${service.baseUrl.origin}${prefix}/items`, `//elsewhere.example${prefix}/items`],
)

for (const target of oddTargets) {
  const shown = target.replace(service.baseUrl.host, '<host>')
  test(`§5.1 no item is served without a token at the target ${shown}`, async () => {
    const mark = randomUUID()
    const body = JSON.stringify({ data: {}, project_id: mark })
    for (const method of ['GET', 'POST']) {
      const options = method === 'POST' ? { body } : {}
      const answer = await service.requestTarget(method, target, options)
      assert.ok([400, 401, 404].includes(answer.status), `${method}: ${answer.status}`)
      assert.ok(!answer.text.includes(item.id))
    }
    assert.ok((await listed(service)).every(({ project_id }) => project_id !== mark))
  })
}

test('§4 a target in absolute form is treated as its path (RFC 9112 §3.2.2)', async () => {
  const target = `${service.baseUrl.origin}${prefix}/items/${item.id}`
  assertRefused(await service.requestTarget('GET', target), 401, 'MISSING_TOKEN')
  const answer = await service.requestTarget('GET', target, { token: service.validToken() })
  assert.deepEqual(itemOf(answer, 200), item)
})
