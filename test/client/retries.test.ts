/** Tests of the client's retries: which requests are sent again after a failure, and when. */

import assert from 'node:assert/strict'
import { createServer as createTcpServer } from 'node:net'
import { after, describe, test } from 'node:test'
import { createServer as createTlsServer } from 'node:tls'
import { ItemStoreClient, type ItemStoreClientOptions } from '../../src/client/client.js'
import { freePort, listen } from '../support/process.js'
import {
  answers,
  type Call,
  calls,
  drops,
  dropsHalfway,
  errorOf,
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
const health = { status: 'healthy', services_summary: { total: 2 } }

const { create, get, list, replace, delete: remove }: Record<keyof typeof calls, Call> = calls

const repeatable: [title: string, call: Call, good: Step, result: unknown][] = [
  ['create', create, oneItem, item],
  ['items', collectItems, listOfOne, [item]],
  ['replace', replace, oneItem, item],
  ['delete', remove, noContent, undefined],
  ['health', calls.health, answers(200, health), health],
]

/** Returns the status and code of a call's error, and the number of requests sent, including lost ones. */
async function failureOf(
  steps: readonly Step[],
  call: Call,
  options: Partial<ItemStoreClientOptions> = {},
) {
  let count = 0
  const { client } = await scriptedClient(steps, {
    fetch: (url, init) => {
      count += 1
      return fetch(url, init)
    },
    ...options,
  })
  const { status, code } = await errorOf(call(client))
  return [status, code, count]
}

async function collectItems(client: ItemStoreClient): Promise<unknown[]> {
  const all: unknown[] = []
  for await (const item of client.items()) all.push(item)
  return all
}

describe('a request is sent again unchanged until it succeeds', { concurrency: true }, () => {
  const failures: [title: string, ...steps: Step[]][] = [
    ['a 503, a lost connection, and a 503 from a proxy', unavailable(), drops, answers(503, '<p>')],
    ['a timeout', hangs],
    ['a response that is cut off', dropsHalfway],
    ['a response that stalls', stalls],
  ]
  for (const [after, ...steps] of failures) {
    for (const [title, call, good, result] of repeatable) {
      if (title === 'items' && after.includes('response')) continue // `items` is not retried after its first item
      test(`${title} after ${after}`, async () => {
        // On a busy machine, even a good response may take longer than the timeout.
        const options = { timeout: 4_000, retries: 10 }
        const { client, seen } = await scriptedClient([...steps, good], options)
        assert.deepEqual(await call(client), result)
        assert.ok(seen.length > steps.length)
        for (const request of seen) assert.deepEqual(request, seen[0])
      })
    }
  }
})

test('a request is retried no more often than the option retries allows', async () => {
  for (const retries of [0, 2]) {
    const failure = await failureOf([unavailable()], get, { retries })
    assert.deepEqual(failure, [503, 'SERVICE_UNAVAILABLE', retries + 1])
  }
})

describe('all requests of one call share its retries:', { concurrency: true }, () => {
  const tagged = answers(200, { data: item }, { etag: '"1"' })
  const whole = { isRepeatable: true }
  const update: Call = (client) => client.update(id, () => ({}), whole)
  const updateText: Call = (client) => client.updateText(id, () => '{}', whole)
  const busy = unavailable()
  for (const [title, sent, ...steps] of [
    ['an update of an overloaded service', 'GET PUT PUT PUT PUT', tagged, busy],
    ['an update whose read is also refused', 'GET GET PUT PUT PUT', busy, tagged, busy],
    [
      'an update with lost responses',
      'GET PUT GET PUT GET PUT PUT',
      tagged,
      drops,
      tagged,
      drops,
      tagged,
      busy,
    ],
  ] as [title: string, sent: string, ...steps: Step[]][]) {
    test(title, async () => {
      for (const call of [update, updateText]) {
        const { client, seen } = await scriptedClient(steps)
        assert.equal((await errorOf(call(client))).code, 'SERVICE_UNAVAILABLE')
        assert.equal(seen.map(({ method }) => method).join(' '), sent)
      }
    })
  }
})

describe('not retried:', () => {
  const ifMatch = '"1"'
  const unknown = unavailable('STORE_UNAVAILABLE')
  const steps: [title: string, step: Step, status: number | undefined, code?: string][] = [
    ['an unknown outcome', unknown, 503, 'STORE_UNAVAILABLE'],
    ['a 503 from a proxy', answers(503, ''), 503, 'INVALID_RESPONSE'],
    ['a 503 without a code', answers(503, { detail: 'later' }), 503],
    ['a lost connection', drops, undefined, 'CONNECTION_LOST'],
    ['half a response', dropsHalfway, 200, 'CONNECTION_LOST'],
    ['a timeout', hangs, undefined, 'TIMEOUT'],
  ]
  for (const [title, step, status, code] of steps) {
    test(`a conditional change after ${title}, because it may have taken effect`, async () => {
      const conditional: Call[] = [
        (client) => client.replace(id, {}, { ifMatch }),
        (client) => client.replaceText(id, '{}', { ifMatch }),
        (client) => client.delete(id, { ifMatch }),
      ]
      for (const call of conditional) {
        const options = step === hangs ? { timeout: 500 } : {}
        assert.deepEqual(await failureOf([step], call, options), [status, code, 1])
      }
    })
  }

  test('except a conditional change after a 503 that proves that it had no effect', async () => {
    const noSecret = unavailable('AUTH_NOT_CONFIGURED')
    const { client, seen } = await scriptedClient([unavailable(), noSecret, oneItem])
    assert.deepEqual(await client.replace(id, {}, { ifMatch }), item)
    const conditions = seen.map(({ headers }) => headers['if-match'])
    assert.deepEqual(conditions, [ifMatch, ifMatch, ifMatch])
  })

  test('items once an item has been yielded, because the list would start over', async () => {
    const { client, seen } = await scriptedClient([dropsHalfway])
    const given: unknown[] = []
    const reading = async () => {
      for await (const { id } of client.items()) given.push(id)
    }
    const { code, status, sessionId } = await errorOf(reading())
    assert.deepEqual([given, code, seen.length], [['1'], 'CONNECTION_LOST', 1])
    assert.deepEqual([status, sessionId], [200, 's'])
  })

  const notUtf8: Step = (response) =>
    response.end(Buffer.from('{"data":{"title":"\xff"}}', 'latin1'))
  const deepItem = answers(200, { data: { ...item, deep: { a: 1 } } })
  const bad = answers(500, { detail: { detail: 'bad', error_code: 'INTERNAL_ERROR' } })
  const redirect = answers(302, '', { location: '/' })
  const page = '<html></html>'
  const invalid = 'INVALID_RESPONSE'
  const others: [
    title: string,
    step: Step,
    status: number,
    code: string | undefined,
    ...calls: Call[],
  ][] = [
    ['no such item', notFound, 404, undefined, replace],
    ['an unexpected error', bad, 500, 'INTERNAL_ERROR', replace],
    ['an HTML page with an error', answers(502, page), 502, invalid, replace],
    ['an HTML page', answers(200, page), 200, invalid, replace, remove],
    ['text that is not UTF-8', notUtf8, 200, invalid, replace],
    ['an item in place of a list', deepItem, 200, invalid, list, collectItems],
    ['a redirect, which would turn a create into a GET', redirect, 302, invalid, create],
  ]
  for (const [title, step, status, code, ...calls] of others) {
    test(`any other response: ${title}`, async () => {
      for (const call of calls) {
        assert.deepEqual(await failureOf([step, oneItem], call), [status, code, 1])
      }
    })
  }

  test('an item that the codec cannot parse, for example because of its nesting', async () => {
    const cause = new RangeError('too deep')
    const parse = () => {
      throw cause
    }
    const json = { parse, stringify: JSON.stringify }
    for (const [step, call] of [
      [oneItem, get],
      [listOfOne, list],
      [listOfOne, collectItems],
    ] as const) {
      const { client, seen } = await scriptedClient([step], { json })
      const error = await errorOf(call(client))
      assert.deepEqual([error.status, error.code, error.cause], [200, invalid, cause])
      assert.equal(seen.length, 1)
    }
  })
})

describe('a change that was never sent is retried, even with a condition', () => {
  test('when nothing listens yet', async () => {
    const port = await freePort()
    let count = 0
    const client = new ItemStoreClient({
      baseUrl: `http://localhost:${port}/api/v1`,
      token,
      fetch: async (url, init) => {
        count += 1
        if (count === 2) await scriptedServer([oneItem], port)
        return await fetch(url, init)
      },
    })
    assert.deepEqual(await client.replace(id, {}, { ifMatch: '"1"' }), item)
    assert.equal(count, 2)
  })

  const withoutKey = createTlsServer()
  const ends = createTcpServer((socket) => socket.end())
  const hosts: [title: string, url: () => string | Promise<string>][] = [
    ['nothing listens', async () => `http://127.0.0.1:${await freePort()}`],
    [
      'nothing listens at any address of the host',
      async () => `http://localhost:${await freePort()}`,
    ],
    ['the host is unknown', () => 'http://nowhere.invalid'],
    ['the address needs an interface', () => 'http://[fe80::1]'],
    ['`fetch` refuses the port', () => 'http://127.0.0.1:6000'],
    ['the port is not for TLS', async () => (await scriptedServer([])).baseUrl.replace('p', 'ps')],
    ['the other side refuses TLS', async () => `https://127.0.0.1:${await listen(withoutKey)}`],
    ['the other side closes before TLS', async () => `https://127.0.0.1:${await listen(ends)}`],
  ]
  for (const [title, url] of hosts) {
    test(`and fails with NOT_CONNECTED and the cause when no retry is left: ${title}`, async () => {
      const { origin } = new URL(await url())
      const baseUrl = `${origin}/api/v1`
      const error = await errorOf(new ItemStoreClient({ baseUrl, token, retries: 0 }).create({}))
      assert.deepEqual([error.code, error.status], ['NOT_CONNECTED', undefined], `${error.cause}`)
      assert.equal(error.message, `Cannot connect to ${baseUrl}/items`)
      assert.ok(error.cause instanceof Error)
    })
  }
  after(() => {
    withoutKey.close()
    ends.close()
  })

  const failed = (syscall: string, code: string) => {
    return { message: `${syscall} ${code}`, syscall, code }
  }
  const unreachable = failed('connect', 'EHOSTUNREACH')
  const late = failed('read', 'EHOSTUNREACH')
  const causes: [isUnsent: boolean, codes: string, ...others: unknown[]][] = [
    [true, 'EHOSTUNREACH ENETUNREACH EADDRNOTAVAIL EAI_FAIL EAI_AGAIN ENOTFOUND EHOSTDOWN'],
    [true, 'CERT_HAS_EXPIRED CERT_NOT_YET_VALID CERT_REVOKED CERT_UNTRUSTED INVALID_CA'],
    [true, 'CERT_SIGNATURE_FAILURE UNABLE_TO_VERIFY_LEAF_SIGNATURE DEPTH_ZERO_SELF_SIGNED_CERT'],
    [true, 'ERR_TLS_CERT_ALTNAME_INVALID ERR_SSL_WRONG_VERSION_NUMBER UND_ERR_CONNECT_TIMEOUT'],
    [true, 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE'],
    [true, '', unreachable, failed('connect', 'ETIMEDOUT'), failed('bind', 'EADDRINUSE')],
    [true, '', { errors: [unreachable, unreachable] }],
    [false, 'ETIMEDOUT ECONNRESET EPIPE HPE_INVALID_VERSION HPE_INVALID_CONSTANT'],
    [false, 'ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR'],
    [false, 'UND_ERR_SOCKET UND_ERR_HEADERS_TIMEOUT UND_ERR_BODY_TIMEOUT'],
    [false, '', late, failed('read', 'ECONNREFUSED'), { errors: [unreachable, late] }],
    [false, '', { errors: [] }, undefined], // browsers give an error no cause
  ]
  test('a change was never sent if the cause says so; otherwise it may have been sent', async () => {
    for (const [isUnsent, codes, ...others] of causes) {
      for (const cause of [...(codes.match(/\S+/g) ?? []).map((code) => ({ code })), ...others]) {
        // The packages node-fetch and cross-fetch put the code into the error itself.
        for (const error of [new TypeError('fetch failed', { cause }), cause]) {
          const fetch = () => Promise.reject(error)
          const client = new ItemStoreClient({ baseUrl: 'http://a', token, retries: 0, fetch })
          const expected = isUnsent ? 'NOT_CONNECTED' : 'CONNECTION_LOST'
          assert.equal((await errorOf(client.create({}))).code, expected, JSON.stringify(cause))
        }
      }
    }
  })
})

describe('Retry-After', () => {
  test('delays the retry', async () => {
    const later = unavailable('SERVICE_UNAVAILABLE', { 'retry-after': '1' })
    const { client } = await scriptedClient([later, oneItem])
    const start = performance.now()
    await client.get(id)
    assert.ok(performance.now() - start > 1_000)
  })

  const inAnHour = new Date(Date.now() + 3_600_000).toUTCString()
  const tooLong: [value: string, seconds: number, timeout: number][] = [
    ['3600', 3_600, 30_000],
    [inAnHour, 3_600, 30_000],
    ['2147484', 2_147_484, Infinity], // longer than the longest possible timer
  ]
  for (const [value, seconds, timeout] of tooLong) {
    test(`prevents a retry if it is too long: ${value} with a timeout of ${timeout} ms`, async () => {
      const step = unavailable('SERVICE_UNAVAILABLE', { 'retry-after': value })
      const { client, seen } = await scriptedClient([step], { timeout, retries: 1 })
      const signal = AbortSignal.timeout(300_000) // ends the call if the client waits too long
      const { status, retryAfter = 0 } = await errorOf(client.get(id, { signal }))
      assert.deepEqual([status, seen.length], [503, 1])
      assert.ok(retryAfter > seconds - 100 && retryAfter <= seconds, `${retryAfter}`)
    })
  }
})

describe('a delete that is retried', () => {
  const uncertain = [drops, unavailable('STORE_UNAVAILABLE'), answers(503, '<html></html>')]
  for (const [place, step] of uncertain.entries()) {
    test(`succeeds if the item is gone, because the first attempt may have deleted it: ${place}`, async () => {
      const { client, seen } = await scriptedClient([step, notFound])
      await client.delete(id)
      assert.equal(seen.length, 2)
    })
  }

  test('fails if the item is gone and the first attempt had no effect', async () => {
    assert.deepEqual(await failureOf([unavailable(), notFound], remove), [404, undefined, 2])
  })

  const unknownRoute = { detail: 'no', session_id: 's', error_code: 'ROUTE_NOT_FOUND' }
  const others: [title: string, step: Step, code: string | undefined][] = [
    ['an HTML page', answers(404, '<html></html>'), 'INVALID_RESPONSE'],
    ['an unknown route', answers(404, { detail: unknownRoute }), 'ROUTE_NOT_FOUND'],
    ['a web framework', answers(404, { detail: 'Not Found' }), undefined],
  ]
  for (const [title, step, code] of others) {
    test(`fails if the 404 is not about the item: ${title}`, async () => {
      assert.deepEqual(await failureOf([drops, step], remove), [404, code, 2])
    })
  }

  test('differs from a replace, which fails if the item is gone', async () => {
    assert.deepEqual(await failureOf([drops, notFound], replace), [404, undefined, 2])
  })
})
