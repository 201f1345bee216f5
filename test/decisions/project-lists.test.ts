/** Tests list requests for one project's items (interface §4.2). Those that wait are in waiting-crowds.test.ts. */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { itemsOf, record } from '../conformance/expect.js'
import { useService } from '../conformance/service.js'
import { assertRefused, createText } from './expect.js'

const service = await useService()

function newProject(): string {
  return `shop ${randomUUID()}`
}

function pathOf(project: string): string {
  return `/items?project_id=${encodeURIComponent(project)}`
}

async function idsIn(path: string): Promise<string[]> {
  return itemsOf(await service.call('GET', path))
    .map(({ id }) => id)
    .sort()
}

/** @param project JSON text of the item's `project_id`. */
function createIn(project: string): Promise<string> {
  return createText(service, `{"data":{},"project_id":${project}}`)
}

test('§4.2 a list with project_id has only the items of that project, in the envelope of every list', async () => {
  const project = newProject()
  const text = JSON.stringify(project)
  const ids = [await createIn(text), await createIn(text)]
  await createIn(JSON.stringify(newProject()))
  const without = await createIn('null')
  const nested = `{"id":"${randomUUID()}","project_id":${text}}`
  await createText(service, `{"data":{"project_id":${text},"a":[${nested},${nested}]}}`)
  assert.deepEqual(await idsIn(pathOf(project)), ids.toSorted())
  const answer = await service.call('GET', pathOf(project))
  const { session_id, data, ...rest } = record(answer.json())
  assert.deepEqual(rest, { status: 'success', message: 'Items retrieved successfully' })
  const { id, ...members } = itemsOf(answer)[0] ?? {}
  assert.deepEqual(members, { project_id: project })
  assert.deepEqual(await idsIn(pathOf(newProject())), [])
  assert.ok(!(await idsIn('/items?project_id=null')).includes(without))
  assert.ok((await idsIn('/items')).includes(without))
})

test('§4.2 the project_id of a list may be percent-encoded in any way, with + for a space', async () => {
  const suffix = randomUUID()
  const id = await createIn(JSON.stringify(`a b+é&=${suffix}`))
  for (const encoded of ['a%20b%2B%C3%A9%26%3D', 'a+b%2B%c3%a9%26=', '%61+b%2b%c3%a9%26%3d']) {
    for (const query of [
      `project_id=${encoded}${suffix}`,
      `a=b&pr%6fject_id=${encoded}${suffix}&c`,
    ]) {
      assert.deepEqual(await idsIn(`/items?${query}`), [id], query)
    }
  }
})

const invalid = [
  ...['project_id', 'project_id=&a=b', 'project_id=a&project%5Fid=a'],
  ...['project_id=%', 'project_id=%ff', 'project_id=%ED%A0%80'],
]
for (const query of invalid) {
  test(`§4.2 a list with the query ?${query} is a 422`, async () => {
    const answer = await service.call('GET', `/items?${query}`)
    const detail = assertRefused(answer, 422, 'VALIDATION_ERROR')
    assert.match(detail, /^Invalid query: project_id must /)
    assert.equal((await service.call('HEAD', `/items?${query}`)).status, 422)
  })
}

test('§4.2 other parameters of a list are ignored, and so is project_id of any other request', async () => {
  const id = await createIn('null')
  const others = ['project=x', 'Project_id=', 'project_ids=a', 'a=project_id=', 'project_id%20=']
  for (const query of [...others, '%']) {
    assert.ok((await idsIn(`/items?${query}`)).includes(id), query)
  }
  const path = `/items/${id}?project_id=`
  assert.equal((await service.call('PUT', path, { data: {} })).status, 200)
  assert.equal((await service.call('GET', path)).status, 200)
  assert.equal((await service.call('POST', '/items?project_id=', { data: {} })).status, 201)
})
