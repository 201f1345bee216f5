/** What the client does when requests fail: which it sends again, and when. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ItemStoreClient } from '../../src/client/client.js'
import { freePort } from '../support/process.js'
import { errorOf } from './expect.js'
import {
  answers,
  drops,
  dropsHalfway,
  hangs,
  item,
  listOfOne,
  noContent,
  notFound,
  oneItem,
  type Step,
  scriptedClient,
  scriptedServer,
  stalls,
  unavailable,
} from './scripted-server.js'

const token = 'a.b.c'
const { id } = item

type Call = (client: ItemStoreClient) => Promise<unknown>

const repeatable: { title: string; call: Call; good: Step; result: unknown }[] = [
  { title: 'create', call: (client) => client.create({}), good: oneItem, result: item },
  { title: 'get', call: (client) => client.get(id), good: oneItem, result: item },
  { title: 'list', call: (client) => client.list(), good: listOfOne, result: [item] },
  { title: 'items', call: collectItems, good: listOfOne, result: [item] },
  { title: 'replace', call: (client) => client.replace(id, {}), good: oneItem, result: item },
  { title: 'delete', call: (client) => client.delete(id), good: noContent, result: undefined },
]

/** Counts what is sent, whether it arrives or not. */
function countingFetch() {
  const counted = {
    count: 0,
    fetch: (url: string, init: RequestInit) => {
      counted.count += 1
      return fetch(url, init)
    },
  }
  return counted
}

/** Status and code of the error with which a call fails, and how many requests the server has got. */
async function failureOf(steps: readonly Step[], call: Call) {
  const { client, seen } = await scriptedClient(steps)
  const { status, code } = await errorOf(call(client))
  return [status, code, seen.length]
}

async function collectItems(client: ItemStoreClient): Promise<unknown[]> {
  const all: unknown[] = []
  for await (const item of client.items()) all.push(item)
  return all
}

describe('sent again until it succeeds', { concurrency: true }, () => {
  for (const { title, call, good, result } of repeatable) {
    test(`${title} after 503, lost connections, and something else's 503`, async () => {
      const { client, seen } = await scriptedClient([
        ...[unavailable(), drops, answers(503, '<html></html>')],
        good,
      ])
      assert.deepEqual(await call(client), result)
      assert.equal(seen.length, 4)
      for (const request of seen) assert.deepEqual({ ...request, at: 0 }, { ...seen[0], at: 0 })
    })
  }

  test('create, get, list and replace when the response breaks off', async () => {
    for (const { call, good, result } of repeatable.filter(({ title }) =>
      /^(c|get|l|r)/.test(title),
    )) {
      const { client, seen } = await scriptedClient([dropsHalfway, good])
      assert.deepEqual(await call(client), result)
      assert.equal(seen.length, 2)
    }
  })

  for (const { title, call, good, result } of repeatable) {
    test(`${title} after a timeout, as it was`, async () => {
      const { client, seen } = await scriptedClient([hangs, good], { timeout: 4_000 })
      assert.deepEqual(await call(client), result)
      for (const request of seen) assert.deepEqual({ ...request, at: 0 }, { ...seen[0], at: 0 })
      assert.ok(seen.length >= 2)
    })
  }

  test('create and list when the response stalls', async () => {
    for (const { call, good, result } of repeatable.filter(({ title }) =>
      /^(create|list)/.test(title),
    )) {
      const { client, seen } = await scriptedClient([stalls, good], { timeout: 4_000 })
      assert.deepEqual(await call(client), result)
      assert.ok(seen.length >= 2)
    }
  })

  test('health when the connection is lost', async () => {
    const health = { status: 'healthy', services_summary: { total: 2 } }
    const good = answers(200, health)
    const { client, seen } = await scriptedClient([drops, answers(503, ''), good])
    assert.deepEqual(await client.health(), health)
    assert.equal(seen.length, 3)
  })
})

describe('sent no more often than retries says', () => {
  for (const retries of [0, 1, 2]) {
    test(String(retries), async () => {
      for (const { step, timeout } of [
        { step: unavailable() },
        { step: drops },
        { step: hangs, timeout: 500 },
      ]) {
        const counted = countingFetch()
        const { client } = await scriptedClient([step], { retries, timeout, ...counted })
        await errorOf(client.get(id))
        assert.equal(counted.count, retries + 1)
      }
    })
  }
})

describe('not sent again', () => {
  const ifMatch = '"1"'
  const conditional: Call[] = [
    (client) => client.replace(id, {}, { ifMatch }),
    (client) => client.replaceText(id, '{}', { ifMatch }),
    (client) => client.delete(id, { ifMatch }),
  ]
  const unknown = unavailable('STORE_UNAVAILABLE')
  const steps: [title: string, step: Step, status: number | undefined, code: string][] = [
    ['an unknown outcome', unknown, 503, 'STORE_UNAVAILABLE'],
    ['a 503 of something else', answers(503, ''), 503, 'INVALID_RESPONSE'],
    ['a lost connection', drops, undefined, 'CONNECTION_LOST'],
    ['half a response', dropsHalfway, 200, 'CONNECTION_LOST'],
  ]
  for (const [title, step, status, code] of steps) {
    test(`a change with a condition after ${title}: it would not meet it after itself`, async () => {
      for (const call of conditional) {
        assert.deepEqual(await failureOf([step], call), [status, code, 1])
      }
    })
  }

  test('a change with a condition after a timeout', async () => {
    for (const call of conditional) {
      const counted = countingFetch()
      const { client } = await scriptedClient([hangs], { timeout: 500, ...counted })
      assert.deepEqual([(await errorOf(call(client))).code, counted.count], ['TIMEOUT', 1])
    }
  })

  test('but a change with a condition is after a 503 of the service that has done nothing', async () => {
    const { client, seen } = await scriptedClient([unavailable(), oneItem])
    assert.deepEqual(await client.replace(id, {}, { ifMatch }), item)
    assert.deepEqual(
      seen.map(({ headers }) => headers['if-match']),
      [ifMatch, ifMatch],
    )
  })

  test('items once an item has been yielded: the list would start over', async () => {
    const { client, seen } = await scriptedClient([dropsHalfway])
    const given: unknown[] = []
    const error = await errorOf(
      (async () => {
        for await (const { id } of client.items()) given.push(id)
      })(),
    )
    assert.deepEqual([given, error.code, seen.length], [['1'], 'CONNECTION_LOST', 1])
    assert.deepEqual([error.status, error.sessionId], [200, 's'])
  })

  const refusals: Step[] = [
    notFound,
    answers(500, { detail: { detail: 'bad', error_code: 'INTERNAL_ERROR' } }),
    answers(507, { detail: { detail: 'full', error_code: 'STORE_FULL' } }),
    answers(502, '<html></html>'),
    answers(200, '<html></html>'),
    answers(200, { data: null }),
    listOfOne,
    (response) => response.end(Buffer.from('{"data":{"title":"\xff"}}', 'latin1')),
    answers(301, '', { location: '/elsewhere' }),
  ]
  for (const [place, step] of refusals.entries()) {
    test(`any other response: ${place}`, async () => {
      const [, , requests] = await failureOf([step], (client) => client.replace(id, {}))
      assert.equal(requests, 1)
    })
  }

  const deepItem = answers(200, { data: { ...item, deep: { a: 1 } } })
  const redirection = answers(302, '', { location: '/' })
  const answersOfOthers: [title: string, step: Step, status: number, ...calls: Call[]][] = [
    [
      'a list for an item',
      listOfOne,
      200,
      (client) => client.get(id),
      (client) => client.create({}),
    ],
    ['an item for a list', deepItem, 200, (client) => client.list(), collectItems],
    ...['<html></html>', '', '{}'].map((body): [string, Step, number, Call] => [
      `"${body}" for a delete`,
      answers(200, body),
      200,
      (client) => client.delete(id),
    ]),
    [
      'a redirection, with which a create would become a GET',
      redirection,
      302,
      (client) => client.create({}),
    ],
  ]
  for (const [title, step, status, ...calls] of answersOfOthers) {
    test(`a response of something else: ${title}`, async () => {
      for (const call of calls) {
        assert.deepEqual(await failureOf([step, oneItem], call), [status, 'INVALID_RESPONSE', 1])
      }
    })
  }

  const forOne: Call[] = [
    (client) => client.get(id),
    (client) => client.getText(id),
    (client) => client.create({}),
    (client) => client.createText('{}'),
    (client) => client.replace(id, {}),
    (client) => client.replaceText(id, '{}'),
  ]
  const forList: Call[] = [(client) => client.list(), (client) => client.listText(), collectItems]
  const nested = '['.repeat(100_000) + ']'.repeat(100_000)
  test('a response of something else, nested too deeply for a stack', async () => {
    const steps = [answers(200, `{"data":${nested}}`)]
    for (const call of [...forOne, ...forList]) {
      assert.deepEqual(await failureOf(steps, call), [200, 'INVALID_RESPONSE', 1])
    }
  })

  test('an item that a codec cannot parse, such as one that is nested too deeply: not asked for again', async () => {
    const cause = new RangeError('too deep')
    const parse = () => {
      throw cause
    }
    const json = { parse, stringify: JSON.stringify }
    for (const [step, calls] of [
      [
        oneItem,
        [forOne[0], forOne[2], forOne[4], (client: ItemStoreClient) => client.watch(id).next()],
      ],
      [listOfOne, [forList[0], collectItems, (client: ItemStoreClient) => client.watch().next()]],
    ] as const) {
      for (const call of calls) {
        const { client, seen } = await scriptedClient([step], { json })
        const error = await errorOf(Promise.resolve(call?.(client)))
        assert.deepEqual([error.status, error.code, error.cause], [200, 'INVALID_RESPONSE', cause])
        assert.equal(seen.length, 1)
      }
    }
  })

  for (const thing of [1, 'a', null, [], [item], {}, { title: 'a' }, { id: 1 }]) {
    test(`a response of something else, with ${JSON.stringify(thing)} for an item`, async () => {
      for (const { calls, data } of [
        { calls: forOne, data: thing },
        { calls: forList, data: [thing, thing] },
        { calls: forList, data: [item, thing] },
      ]) {
        for (const call of calls) {
          const failure = await failureOf([answers(200, { data })], call)
          assert.deepEqual(failure, [200, 'INVALID_RESPONSE', 1])
        }
      }
    })
  }
})

describe('a change that was never sent is sent again, with a condition too', () => {
  for (const host of ['127.0.0.1', 'localhost']) {
    test(`when nothing listens at ${host} yet`, async () => {
      const port = await freePort()
      let seen: readonly unknown[] = []
      let count = 0
      const client = new ItemStoreClient({
        baseUrl: `http://${host}:${port}/api/v1`,
        token,
        fetch: async (url, init) => {
          count += 1
          if (count === 2) seen = (await scriptedServer([oneItem], port)).seen
          return await fetch(url, init)
        },
      })
      assert.deepEqual(await client.replace(id, {}, { ifMatch: '"1"' }), item)
      assert.deepEqual([count, seen.length], [2, 1])
    })
  }

  test('and otherwise fails as not connected, with the reason', async () => {
    const port = await freePort()
    const hosts = [`127.0.0.1:${port}`, `localhost:${port}`, 'nowhere.invalid']
    for (const host of hosts) {
      const baseUrl = `http://${host}/api/v1`
      const error = await errorOf(new ItemStoreClient({ baseUrl, token, retries: 0 }).create({}))
      assert.deepEqual([error.code, error.status], ['NOT_CONNECTED', undefined])
      assert.equal(error.message, `Cannot connect to http://${host}/api/v1/items`)
      assert.ok(error.cause instanceof Error)
    }
  })
})

describe('errors of a fetch other than that of Node.js prove nothing', () => {
  const causes: { title: string; error: unknown }[] = [
    { title: 'a browser', error: new TypeError('Failed to fetch') },
    { title: 'a reset', error: new TypeError('fetch failed', { cause: { code: 'ECONNRESET' } }) },
    { title: 'no error at all', error: undefined },
  ]
  for (const { title, error } of causes) {
    test(title, async () => {
      let count = 0
      const fetch = async () => {
        count += 1
        throw error
      }
      const options = { baseUrl: 'http://localhost/api/v1', token, retries: 1, fetch }
      const client = new ItemStoreClient(options)
      const { code, cause } = await errorOf(client.replace(id, {}, { ifMatch: '"1"' }))
      assert.deepEqual([code, cause, count], ['CONNECTION_LOST', error, 1])
      assert.equal((await errorOf(client.get(id))).code, 'CONNECTION_LOST')
      assert.equal(count, 3)
    })
  }
})

describe('Retry-After', () => {
  test('is waited for', async () => {
    const step = unavailable('SERVICE_UNAVAILABLE', { 'retry-after': '1' })
    const { client, seen } = await scriptedClient([step, oneItem])
    await client.get(id)
    const [first, second] = seen.map(({ at }) => at)
    assert.ok(first && second && second - first > 1_000, `${first} ${second}`)
  })

  test('beyond the timeout is not waited for', async () => {
    for (const value of ['3600', new Date(Date.now() + 3_600_000).toUTCString()]) {
      const step = unavailable('SERVICE_UNAVAILABLE', { 'retry-after': value })
      const { client, seen } = await scriptedClient([step])
      const signal = AbortSignal.timeout(300_000) // an hour is too long for a test that fails
      const call = client.get(id, { signal })
      const { status, retryAfter } = await errorOf(call)
      assert.deepEqual([status, seen.length], [503, 1])
      assert.ok(retryAfter && retryAfter > 3_500 && retryAfter <= 3_600, String(retryAfter))
    }
  })
})

describe('Retry-After with no timeout', () => {
  for (const value of ['99999999999999', '9'.repeat(400), '2147484']) {
    test(`is not waited for beyond what a timer can take: ${value}`, async () => {
      const step = unavailable('SERVICE_UNAVAILABLE', { 'retry-after': value })
      const { client, seen } = await scriptedClient([step], { timeout: Infinity, retries: 1 })
      const signal = AbortSignal.timeout(300_000) // so that a test that fails ends
      const error = await errorOf(client.get(id, { signal }))
      assert.deepEqual([error.status, seen.length], [503, 1])
    })
  }
})

describe('a delete that is sent again', () => {
  const uncertain = [drops, unavailable('STORE_UNAVAILABLE'), answers(503, '<html></html>')]
  for (const [place, step] of uncertain.entries()) {
    test(`has succeeded when the item is gone, as the first may have done it: ${place}`, async () => {
      const { client, seen } = await scriptedClient([step, notFound])
      await client.delete(id)
      assert.equal(seen.length, 2)
    })
  }

  const remove: Call = (client) => client.delete(id)

  test('has failed when the first was refused', async () => {
    assert.deepEqual(await failureOf([unavailable(), notFound], remove), [404, undefined, 2])
  })

  const unknownRoute = { detail: 'no', session_id: 's', error_code: 'ROUTE_NOT_FOUND' }
  const others: [title: string, step: Step, code: string | undefined][] = [
    ['a page', answers(404, '<html></html>'), 'INVALID_RESPONSE'],
    ['an unknown route', answers(404, { detail: unknownRoute }), 'ROUTE_NOT_FOUND'],
    ['a framework', answers(404, { detail: 'Not Found' }), undefined],
  ]
  for (const [title, step, code] of others) {
    test(`has failed when the 404 is not the item's: ${title}`, async () => {
      assert.deepEqual(await failureOf([drops, step], remove), [404, code, 2])
    })
  }

  test('while a replace has failed: there is no item with that content', async () => {
    const failure = await failureOf([drops, notFound], (client) => client.replace(id, {}))
    assert.deepEqual(failure, [404, undefined, 2])
  })
})
