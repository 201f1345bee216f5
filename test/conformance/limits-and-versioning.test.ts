/** Tests of limits and versioning (spec §8 and §9). */

import assert from 'node:assert/strict'
import { assertError, create, itemOf, itemsOf, record } from './expect.js'
import { useService } from './service.js'
import { test } from './test.js'

const service = await useService()

for (const [length, status] of [
  [0, 422],
  [1, 201],
  [1_000, 201],
] as const) {
  test(`§7.1 §8 project_id of length ${length}: ${status}`, async () => {
    const project_id = 'p'.repeat(length)
    const answer = await service.call('POST', '/items', { data: {}, project_id })
    if (status === 422) assertError(answer, 422, 'VALIDATION_ERROR')
    else assert.equal(itemOf(answer, status).project_id, project_id, 'project_id')
  })
}

test('§8 there are no paging parameters: with such a query, the list still has all items', async () => {
  const items = [await create(service, {}), await create(service, {})]
  for (const query of ['limit=1', 'page=2&per_page=1', 'offset=1', 'skip=1&take=1']) {
    const answer = await service.call('GET', `/items?${query}`)
    if (answer.status !== 200) continue
    const ids = itemsOf(answer).map(({ id }) => id)
    const hasAll = items.every(({ id }) => ids.includes(id))
    assert.ok(hasAll, 'a list with a query lacks items')
  }
})

test('§9.1 the base URL ends with /api/v1, and the endpoints are below it', async () => {
  assert.ok(service.baseUrl.pathname.endsWith('/api/v1'), 'the base URL does not end with /api/v1')
  assert.equal((await service.request('GET', '/health')).status, 200, 'status')
})

test('§9.2 the version of the health response is a semantic version', async () => {
  // Regular expression from semver.org.
  const semver =
    /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(?:\+([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?$/
  const { version } = record((await service.request('GET', '/health')).json())
  assert.match(String(version), semver, 'version')
})
