/** Tests of the client with a real service: every method, errors, tokens and numbers. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { inspect } from 'node:util'
import { ItemStoreClient, type ItemStoreClientOptions, tagOf } from '../../src/client/client.js'
import { assertSessionId } from '../conformance/expect.js'
import { inSeconds } from '../conformance/tokens.js'
import { ownService } from '../support/own-service.js'
import { answers, errorOf, scriptedServer, unknownId } from './scripted-server.js'

interface Todo {
  title: string
  done?: boolean
}

const service = await ownService()
const baseUrl = service.baseUrl.href

function newClient(options: Partial<ItemStoreClientOptions> = {}): ItemStoreClient<Todo> {
  return new ItemStoreClient({ baseUrl, token: service.validToken(), ...options })
}

const client = newClient()

describe('items', () => {
  test('create, get, replace, list and delete', async () => {
    const created = await client.create({ title: 'first' }, { projectId: 'p' })
    const { id } = created
    assert.deepEqual(created, { id, project_id: 'p', title: 'first' })
    assert.deepEqual(await client.get(id), created)

    const replaced = await client.replace(id, { title: 'second', done: true })
    assert.deepEqual(replaced, { id, project_id: null, title: 'second', done: true })
    assert.deepEqual(await client.list(), [replaced])

    assert.equal(await client.delete(id), undefined)
    assert.deepEqual(await client.list(), [])
  })

  test('list, items and watch can be limited to one project', async () => {
    const projectId = 'a b+é&=#/?😀"'
    const own = await client.create({ title: 'own' }, { projectId })
    const other = await client.create({ title: 'other' }, { projectId: 'a b' })
    assert.deepEqual(await client.list({ projectId }), [own])
    const seen = []
    for await (const item of client.items({ projectId })) seen.push(item)
    assert.deepEqual(seen, [own])
    const states = client.watch({ projectId })
    assert.deepEqual((await states.next()).value, [own])
    const next = states.next()
    await client.delete(other.id)
    await client.delete(own.id)
    assert.deepEqual((await next).value, [])
    await states.return()
    const notText = { projectId: null as unknown as string } // JavaScript callers may pass any value
    for (const call of [() => client.list(notText), () => client.items(notText).next()]) {
      await assert.rejects(call, { name: 'TypeError', message: /project_id is not text/ })
    }
    assert.equal((await errorOf(client.list({ projectId: '' }))).status, 422)
  })

  test('an item that was read can be written back, with the same or another project', async () => {
    const item = await client.create({ title: 'a', project_id: 'p' })
    assert.equal(item.project_id, 'p')
    const replaced = await client.replace(item.id, { ...item, done: true })
    assert.deepEqual(replaced, { ...item, done: true })
    const text = await client.getText(item.id)
    assert.equal(await client.replaceText(item.id, text), text)
    const moved = await client.replace(item.id, { ...item }, { projectId: 'q' })
    assert.deepEqual(moved, { ...item, project_id: 'q' })
    const freed = await client.replace(item.id, { ...moved }, { projectId: null })
    assert.deepEqual(freed, { ...item, project_id: null })
    const kept = await client.update(item.id, () => ({ title: 'c', project_id: 'r' }))
    assert.equal(kept.project_id, 'r')
    assert.equal((await client.update(item.id, () => ({ title: 'd' }))).project_id, 'r')
    const left = await client.update(item.id, (each) => ({ ...each, project_id: null }))
    assert.equal(left.project_id, null)
    await assert.rejects(client.create({ title: 'b', project_id: '' }), /project_id/)
    for (const text of ['{"project_id":1e400}', '{"project_id":7}']) {
      await assert.rejects(client.createText(text), /project_id is not text/)
    }
    const escaped = await client.createText('{"title":"e","project\\u005fid":"p"}')
    assert.equal(JSON.parse(escaped).project_id, 'p')
    const { project_id } = await client.create({ title: 'b' }, { projectId: null })
    assert.equal(project_id, null)
  })

  test('request sends HEAD and conditional requests, and yields a long response in short parts', async () => {
    const { id } = await client.create({ title: 'x'.repeat(200_000) })
    const tag = await client.request({ method: 'HEAD', path: `/items/${id}` }, {}, ({ head }) =>
      head.headers.get('etag'),
    )
    assert.equal(tag, tagOf(await client.get(id)))
    const headers = { 'if-none-match': String(tag) }
    const same = await client.request({ path: `/items/${id}`, headers }, {}, ({ head }) => head)
    assert.equal(same.status, 304)
    const fetch = async () => new Response('é'.repeat(200_000)) // returns the whole body as one chunk
    const lengths = await newClient({ fetch }).request({}, {}, async ({ parts }) => {
      const all = []
      for await (const part of parts) all.push(part.length)
      return all
    })
    assert.deepEqual(lengths, [65_536, 65_536, 65_536, 3_392])
  })

  test('a base URL may be a URL, and may end with a slash', async () => {
    for (const each of [service.baseUrl, `${baseUrl}/`]) await newClient({ baseUrl: each }).list()
  })
})

describe('health', () => {
  test('needs no token', async () => {
    const token = () => assert.fail('a token was asked for')
    const { session_id, ...health } = await newClient({ token }).health()
    assertSessionId(session_id)
    assert.equal(health.status, 'healthy')
    assert.deepEqual(health.services_summary, { total: 2, healthy: 2, unhealthy: 0 })
  })

  test('is returned, not thrown, when the service is unhealthy', async () => {
    const body = {
      ...{ session_id: 's', status: 'unhealthy', service_name: 'item-store', version: '1.0.0' },
      services_summary: { total: 2, healthy: 1, unhealthy: 1 },
    }
    const { baseUrl, seen } = await scriptedServer([answers(503, body)])
    assert.deepEqual(await newClient({ baseUrl }).health(), body)
    assert.equal(seen.length, 1)
  })

  test('fails if the response is not a health response', async () => {
    const other = '{"status":"ok","services_summary":{"total":2,"healthy":2,"unhealthy":0}}'
    const summary = '{"status":"healthy","services_summary":{}}'
    for (const body of ['<html></html>', 'null', '{"status":"healthy"}', summary, other]) {
      const { baseUrl } = await scriptedServer([answers(200, body)])
      const error = await errorOf(newClient({ baseUrl }).health())
      assert.deepEqual([error.status, error.code], [200, 'INVALID_RESPONSE'], body)
    }
  })
})

describe('errors have status, code and session id', () => {
  const calls: [title: string, call: () => Promise<unknown>][] = [
    ['get', () => client.get(unknownId)],
    ['replace', () => client.replace(unknownId, { title: 'a' })],
    ['delete', () => client.delete(unknownId)],
    ...['a/b?c#d é', '...', '.a', '%2e', '%2E%2e', '../items', '\\..', '😀'].map(
      (id): [string, () => Promise<unknown>] => [`the id ${id}`, () => client.get(id)],
    ),
  ]
  for (const [title, call] of calls) {
    test(`unknown item: ${title}`, async () => {
      const error = await errorOf(call())
      assert.equal(error.status, 404)
      assert.equal(error.code, undefined)
      assert.match(error.message, /^Item .* not found$/)
      assertSessionId(error.sessionId)
    })
  }

  test('a base URL without /api/v1', async () => {
    const base = service.baseUrl.origin
    const error = await errorOf(newClient({ baseUrl: base }).list())
    assert.deepEqual([error.status, error.code], [404, 'ROUTE_NOT_FOUND'])
  })
})

describe('invalid input gives a clear error before anything is sent', () => {
  const fetch = () => assert.fail('a request was sent')
  const lone = String.fromCharCode(0xd800)
  const silent = newClient({ fetch })
  const tokenless = newClient({ fetch, token: async () => undefined as never }) // a JavaScript caller may pass this

  const baseUrls = [
    ...[undefined, '/api/v1', 'localhost:8000/api/v1', 'http://a/api/v1?secret'],
    ...['http://a:secret@b/api/v1', 'http://a:secret@b:x/'], // errors must not show the password
  ].map((baseUrl) => ({ baseUrl }))
  const wrongOptions: [message: RegExp, ...options: object[]][] = [
    [/token is missing/, { token: undefined }, { token: '' }],
    [/white space/, { token: 'a.b.c\n' }],
    [/baseUrl is missing, or not like "http:\/\/localhost:8000\/api\/v1"$/, ...baseUrls],
    [/timeout is 0; expected milliseconds/, { timeout: 0 }],
    [/retries is -1; expected 0 or more/, { retries: -1 }],
    [/fetch is not a function/, { fetch: 5 }, { fetch: null }],
    [/json has no parse and stringify/, { json: null }, { json: { parse: JSON.parse } }],
  ]
  test('options', () => {
    for (const [message, ...all] of wrongOptions) {
      for (const options of all) {
        assert.throws(() => newClient(options), { name: 'TypeError', message }, inspect(options))
      }
    }
  })

  test('an id that is no path segment', async () => {
    for (const id of ['', '.', '..', lone, `a${lone}`]) {
      const message = /^ItemStoreClient: id is ".*"; expected/
      await assert.rejects(silent.get(id), { message })
      await assert.rejects(silent.replace(id, { title: 'a' }), { message })
      await assert.rejects(silent.delete(id), { message })
    }
  })

  const wrongCalls: [title: string, message: RegExp, call: () => Promise<unknown>][] = [
    ['text that is not JSON', /JSON/, () => silent.createText('{a}')],
    ['text that adds members', /JSON/, () => silent.createText('{},"a":{}')],
    ['a lone surrogate', /lone surr/, () => silent.createText(`"${lone}"`)],
    ['a project with a lone surrogate', /lone surr/, () => silent.list({ projectId: lone })],
    ['no data', /data is missing/, () => silent.create((() => 0) as never)], // JavaScript callers may pass any value
    ['a token function that returns nothing', /token is missing/, () => tokenless.list()],
  ]
  for (const [title, message, call] of wrongCalls) {
    test(`calls: ${title}`, async () => {
      await assert.rejects(call, { message })
    })
  }
})

describe('an access token', () => {
  const valid = service.validToken()
  const expired = () => service.mint({ sub: 'a', exp: inSeconds(-10) })

  type Call = (client: ItemStoreClient<Todo>) => Promise<unknown>
  const list: Call = (client) => client.list()
  const lists: Call = (client) => Promise.all(Array.from({ length: 20 }, () => client.list()))
  const create: Call = (client) => client.create({ title: 'a' }).then(({ id }) => client.delete(id))
  const cases: [title: string, tokens: string[], asked: number, calls: Call[], code?: string][] = [
    ['from its function once while it is valid', [valid], 1, [lists, list]],
    ['again when it has expired, also for a create', [expired(), valid], 2, [create]],
    ['again only once when many calls find it expired', [expired(), valid], 2, [lists]],
    ['not a third time', [expired()], 2, [list], 'TOKEN_EXPIRED'],
    ['only once if it is invalid', ['wrong'], 1, [list], 'INVALID_TOKEN'],
  ]
  for (const [title, tokens, asked, calls, code] of cases) {
    test(`is requested ${title}`, async () => {
      let count = 0
      const token = async () => {
        count += 1
        assert.ok(count < 10, 'the client requests tokens endlessly')
        return tokens[count - 1] ?? tokens.at(-1) ?? ''
      }
      const client = newClient({ token })
      for (const call of calls) {
        if (code === undefined) await call(client)
        else assert.equal((await errorOf(call(client))).code, code)
      }
      assert.equal(count, asked)
    })
  }

  test('is requested again by the next call after its function has failed', async () => {
    const problem = new Error('no session')
    const tokens = [() => Promise.reject(problem), service.validToken]
    const client = newClient({ token: async () => await (tokens.shift()?.() ?? assert.fail()) })
    await assert.rejects(client.list(), problem)
    await client.list()
  })

  test('given as text fails at once if it has expired', async () => {
    const error = await errorOf(newClient({ token: expired() }).list())
    assert.equal(error.code, 'TOKEN_EXPIRED')
  })
})

test('numbers stay exact in the text methods, byte for byte', async () => {
  const members = '"big":12345678901234567890,"price":1.0,"far":1e400,"deep":[{"x":-0.10}]'
  const text = await client.createText(`{${members}}`, { projectId: 'p "q"' })
  const { id }: { id: string } = JSON.parse(text)
  assert.equal(text, `{"id":"${id}","project_id":"p \\"q\\"",${members}}`)
  assert.equal(await client.getText(id), text)
  assert.deepEqual(await client.listText({ projectId: 'p "q"' }), [text])
  const longer = text.replace('}]', ',"y" : 1.0}]')
  assert.equal(await client.updateText(id, () => longer), longer)
  await assert.rejects(
    client.updateText(id, () => '{},"project_id":"q"'),
    SyntaxError,
  )
  const replaced = await client.replaceText(id, '{ "a" : 1.0 }')
  assert.equal(replaced, `{"id":"${id}","project_id":null,"a" : 1.0}`)
  assert.equal(await client.getText(id), replaced)
})
