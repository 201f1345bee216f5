/** Decisions on §4.2: the list of one project's items, its tag (§4.9), and reads that wait for it (§4.10). */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { Answer } from '../conformance/client.js'
import { itemOf, itemsOf, record } from '../conformance/expect.js'
import { useService } from '../conformance/service.js'
import { strings } from '../corpora/strings.js'
import { assertRefused, createText } from './expect.js'

const service = await useService()

/** A project that no other test uses. */
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

/** Creates an item. @param project the JSON text of its `project_id`. */
function createIn(project: string): Promise<string> {
  return createText(service, `{"data":{},"project_id":${project}}`)
}

async function tagOf(path: string): Promise<string> {
  return String((await service.call('HEAD', path)).headers.etag)
}

/** Sends a read that waits. @param prefer the seconds. */
function wait(path: string, tag: string, seconds = 20, method = 'GET'): Promise<Answer> {
  const headers = { 'if-none-match': tag, prefer: `wait=${seconds}` }
  return service.request(method, path, { token: service.validToken(), headers })
}

async function isPending(answer: Promise<Answer>): Promise<boolean> {
  return (await Promise.race([answer, delay(200, 'pending')])) === 'pending'
}

test('§4.2 a list with project_id has the items of that project, in the same envelope', async () => {
  const project = newProject()
  const ids = [await createIn(JSON.stringify(project)), await createIn(JSON.stringify(project))]
  await createIn(JSON.stringify(newProject()))
  await createIn('null')
  const answer = await service.call('GET', pathOf(project))
  assert.deepEqual(
    itemsOf(answer)
      .map(({ id }) => id)
      .sort(),
    ids.toSorted(),
  )
  const { session_id, data, ...rest } = record(answer.json())
  assert.deepEqual(rest, { status: 'success', message: 'Items retrieved successfully' })
  const { id, ...members } = itemsOf(answer)[0] ?? {}
  assert.deepEqual(members, { project_id: project })
  assert.deepEqual(itemsOf(await service.call('GET', pathOf(newProject()))), [])
})

test('§4.2 a project is compared after resolving escapes, with the whole value', async () => {
  const project = `é"\\/😀\u0000\u007f ${randomUUID()}`
  const escaped = [...project].map((character) =>
    [...Array(character.length).keys()]
      .map((place) => `\\u${character.charCodeAt(place).toString(16).padStart(4, '0')}`)
      .join(''),
  )
  const ids = [await createIn(JSON.stringify(project)), await createIn(`"${escaped.join('')}"`)]
  await createIn(JSON.stringify(`${project}x`))
  await createIn(JSON.stringify(project.slice(0, -1)))
  await createIn(JSON.stringify(`\ud83d${project}`))
  assert.deepEqual(await idsIn(pathOf(project)), ids.toSorted())
})

for (const [kind, values] of Object.entries(strings)) {
  test(`§4.2 projects of ${kind} are found by their own names only`, async () => {
    const names = values.filter(
      (value) => value !== '' && value.length < 500 && !/\p{Surrogate}/u.test(value),
    )
    const ids = new Map<string, string>()
    const suffix = randomUUID()
    for (const name of names) ids.set(name + suffix, await createIn(JSON.stringify(name + suffix)))
    for (const [name, id] of ids) assert.deepEqual(await idsIn(pathOf(name)), [id], name)
  })
}

test('§4.2 no item without a project is of the project "null"', async () => {
  const id = await createIn('null')
  assert.ok(!(await idsIn('/items?project_id=null')).includes(id))
  assert.ok((await idsIn('/items')).includes(id))
})

test('§4.2 a project in the data is not that of the item', async () => {
  const project = JSON.stringify(newProject())
  const nested = `{"id":"${randomUUID()}","project_id":${project}}`
  await createText(service, `{"data":{"project_id":${project},"a":[${nested},${nested}]}}`)
  assert.deepEqual(await idsIn(pathOf(JSON.parse(project))), [])
})

test('§4.2 the query may be encoded in any of the usual ways', async () => {
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
  ...['project_id=', 'project_id', 'project_id=&a=b', 'project_id=a&project_id=a'],
  ...['project_id=a&project%5Fid=b', 'project_id=%', 'project_id=%ff', 'project_id=%ED%A0%80'],
]
for (const query of invalid) {
  test(`§4.2 ?${query} is a 422`, async () => {
    for (const method of ['GET', 'HEAD']) {
      const answer = await service.call(method, `/items?${query}`)
      assert.equal(answer.status, 422)
      if (method === 'GET') {
        const detail = assertRefused(answer, 422, 'VALIDATION_ERROR')
        assert.match(detail, /^Invalid query: project_id must /)
      }
    }
  })
}

test('§4.2 other parameters are ignored, and so is project_id elsewhere', async () => {
  const project = JSON.stringify(newProject())
  const id = await createIn(project)
  const others = [
    'project=x',
    'Project_id=',
    'project_ids=a',
    'a=project_id=',
    'project_id%20=',
    '%',
  ]
  for (const query of others) {
    assert.ok((await idsIn(`/items?${query}`)).includes(id), query)
  }
  const path = `/items/${id}?project_id=`
  for (const [method, body] of [
    ['PUT', { data: {}, project_id: JSON.parse(project) }] as const,
    ['GET'] as const,
  ]) {
    assert.equal((await service.call(method, path, body)).status, 200)
  }
  assert.equal((await service.call('POST', '/items?project_id=', { data: {} })).status, 201)
})

test('§4.2 a query without a token is a 401, and one with a malformed condition a 400', async () => {
  assertRefused(await service.request('GET', '/items?project_id='), 401, 'MISSING_TOKEN')
  const options = { token: service.validToken(), headers: { 'if-none-match': 'x' } }
  const answer = await service.request('GET', '/items?project_id=', options)
  assertRefused(answer, 400, 'BAD_REQUEST')
})

test('§4.9 HEAD of a project has the tag of its list, and If-None-Match gets a 304', async () => {
  const project = newProject()
  await createIn(JSON.stringify(project))
  const path = pathOf(project)
  const head = await service.call('HEAD', path)
  assert.deepEqual([head.status, head.text], [200, ''])
  const { etag } = (await service.call('GET', path)).headers
  assert.equal(etag, head.headers.etag)
  for (const method of ['GET', 'HEAD']) {
    const options = { token: service.validToken(), headers: { 'if-none-match': String(etag) } }
    const answer = await service.request(method, path, options)
    assert.deepEqual([answer.status, answer.text, answer.headers.etag], [304, '', etag])
  }
})

test('§4.9 the tag of a project changes with each change of its items, and with no other', async () => {
  const [project, other] = [newProject(), newProject()]
  const path = pathOf(project)
  const body = (name: string | undefined, a: number) => ({ data: { a }, project_id: name })
  let id = ''
  const changes = [
    async () => {
      id = itemOf(await service.call('POST', '/items', body(project, 1)), 201).id
    },
    () => service.call('PUT', `/items/${id}`, body(project, 2)),
    () => service.call('PUT', `/items/${id}`, body(other, 2)),
    () => service.call('PUT', `/items/${id}`, body(project, 3)),
    () => service.call('PUT', `/items/${id}`, body(undefined, 3)),
    () => service.call('PUT', `/items/${id}`, body(project, 4)),
    () => service.call('DELETE', `/items/${id}`),
  ]
  for (const [place, change] of changes.entries()) {
    const before = await tagOf(path)
    await createIn(JSON.stringify(other))
    await createIn('null')
    assert.equal(await tagOf(path), before, `before change ${place}`)
    await change()
    assert.notEqual(await tagOf(path), before, `after change ${place}`)
  }
})

for (const method of ['GET', 'HEAD']) {
  test(`§4.10 ${method} of a project waits for a change of its items alone`, async () => {
    const [project, other] = [newProject(), newProject()]
    const path = pathOf(project)
    const start = await tagOf(path)
    // A change of another project between the read and the wait ends no wait either.
    let foreign = await createIn(JSON.stringify(other))
    let own = ''
    const body = (name: string, a: number) => ({ data: { a }, project_id: name })
    const changes: (() => Promise<number>)[] = [
      async () => {
        own = await createIn(JSON.stringify(project))
        return 1
      },
      async () => {
        await service.call('PUT', `/items/${own}`, body(project, 1))
        return 1
      },
      async () => {
        await service.call('PUT', `/items/${foreign}`, body(project, 1))
        return 2
      },
      async () => {
        await service.call('PUT', `/items/${foreign}`, body(other, 1))
        return 1
      },
      async () => {
        await service.call('DELETE', `/items/${own}`)
        return 0
      },
    ]
    let tag = start
    for (const change of changes) {
      const answer = wait(path, tag, 20, method)
      const another = await createIn(JSON.stringify(other))
      await service.call('DELETE', `/items/${another}`)
      assert.ok(await isPending(answer))
      const count = await change()
      const { status, headers, ...rest } = await answer
      assert.deepEqual([status, headers['preference-applied']], [200, 'wait=20'])
      if (method === 'GET') assert.equal(itemsOf({ status, headers, ...rest }).length, count)
      tag = String(headers.etag)
      foreign = foreign === another ? '' : foreign
    }
  })
}

test('§4.10 without a change of the project, 304 after the time', async () => {
  const path = pathOf(newProject())
  const tag = await tagOf(path)
  const answer = wait(path, tag, 1)
  await createIn(JSON.stringify(newProject()))
  const { status, headers } = await answer
  assert.deepEqual([status, headers.etag, headers['preference-applied']], [304, tag, 'wait=1'])
})
