/** Tests that input made to be slow takes linear time: in every regular expression, and in whole requests. */

import assert from 'node:assert/strict'
import { BlockList } from 'node:net'
import { test } from 'node:test'
import { parseEnvFile } from '../src/config/env-file.js'
import { UsageError } from '../src/config/usage-error.js'
import { assertLinear, characters, longest, sourcesIn, timeOf } from './support/linear-time.js'
import { ownApp } from './support/own-app.js'
import { exchange } from './support/socket.js'

const sources = sourcesIn('src')
const items = '/api/v1/items'

test('every regular expression of src and of the pages reads any text in linear time', async () => {
  await assertLinear('src', 60)
  await assertLinear('pages', 40)
})

const parts = [...' \t,;="\\/%.:-0a[{', ', ', 'W/"",', 'a=a,', '%41']
const attacks = parts.flatMap((part) =>
  [',', '"'].map((start) => `${start}${part.repeat(15_000 / part.length)}!`),
)

test('every header, path and query of 15 KB, and every body of 256 KB, is read in linear time', async () => {
  const trustedProxies = new BlockList()
  trustedProxies.addAddress('127.0.0.1')
  const app = await ownApp({}, { trustedProxies })
  const request = (method: string, target: string, header = '', body = '') => {
    const authorization = `Authorization: Bearer ${app.validToken()}\r\n`
    const lines = `${header}Host: a\r\n${authorization}Content-Length: ${body.length}\r\n`
    return `${method} ${target} HTTP/1.1\r\n${lines}\r\n${body}`
  }
  const send = async (limit: number, ...requests: readonly string[]) => {
    const bytes = Buffer.from(requests.join(''), 'latin1')
    const time = await timeOf(() => exchange(app.baseUrl, bytes, requests.length))
    assert.ok(time <= limit, `${time} ms for ${requests[0]?.slice(0, 100)}`)
  }

  const names = sources
    .filter(({ file }) => /^(?:http|listener)/.test(file))
    .flatMap(({ text }) => [...text.matchAll(/headers\??\.([a-z]+)\b|'([a-z]+(?:-[a-z]+)+)'/g)])
    .map(([, property, quoted]) => property ?? quoted ?? '')
  for (const name of ['host', 'authorization', 'content-encoding', 'if-match', 'x-forwarded-for']) {
    assert.ok(names.includes(name), name)
  }
  for (const name of new Set(names)) {
    for (const attack of attacks) {
      const header = `${name}: ${attack}\r\n`
      await send(
        longest,
        request('POST', items, header, '{"data":{}}'),
        request('GET', items, header),
        request('GET', '/docs', header),
        request('OPTIONS', items, header),
      )
    }
  }
  for (const target of [`${items}?project_id=`, `${items}?`, `${items}/`, '/docs/', 'http://']) {
    for (const attack of attacks) await send(longest, request('GET', target + attack))
  }
  const members = ['"":1,', '"id":1,', '"\\u0061":1,', `"${'a'.repeat(70)}":1,`, '{"a":', '\\u0061']
  for (const start of ['', '{"data":', '{"data":{', '{"data":{"', '{"data":{"a":"']) {
    for (const part of [...parts, ...members]) {
      const body = `${start}${part.repeat(262_144 / part.length)}!`
      await send(500, request('POST', items, '', body))
    }
  }
})

test('a .env file of 16 KB is parsed in linear time', async () => {
  for (const part of [...characters, 'A="\n', "A='\n", 'A=`\n', 'A= #', 'export ']) {
    const text = part.repeat(16_000 / part.length)
    const time = await timeOf(() => {
      try {
        parseEnvFile(text)
      } catch (error) {
        assert.ok(error instanceof UsageError)
      }
    })
    assert.ok(time <= longest, `${time} ms for ${part}`)
  }
})
