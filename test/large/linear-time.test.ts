/** Tests that even input meant to be slow takes linear time, in every regular expression and in whole requests. */

import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { BlockList } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseEnvFile } from '../../src/config/env-file.js'
import { UsageError } from '../../src/config/usage-error.js'
import { scopeTest } from '../../src/doubles/options.js'
import { ownApp } from '../support/own-app.js'
import { exchange } from '../support/socket.js'
import { readText, root } from '../support/tools.js'

const longest = 40 // ms of CPU for 16 to 32 KB; linear work takes 5, quadratic more than 100

function sourcesIn(folder: string) {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /(?<!\.test)\.tsx?$/.test(file))
    .map((file) => ({ file, text: readText(join(folder, file)) }))
}

/** Returns the CPU time of a call in ms. On a busy machine, it may be long by chance, so the best of three is used. */
async function timeOf(act: () => unknown): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (let turn = 0; turn < 3 && least > longest; turn += 1) {
    const before = process.cpuUsage()
    await act()
    const { user, system } = process.cpuUsage(before)
    least = Math.min(least, (user + system) / 1000)
  }
  return least
}

const literal =
  /(?<=(?:^|[=(,:?!&|[{};>]|return)\s*)\/(?![*/])((?:[^\\/[\n]|\\.|\[(?:[^\\\]\n]|\\.)*\])+)\/([dgimsuvy]*)/gm

const characters = [...' \t\n,;="\'`\\/%.:@#-+09aA[{(<&é']

/** Yields texts of any length that an expression may read slowly: a start that matches, a repeated part and a bad end. */
function* attacksOn(source: string): Generator<(length: number) => string> {
  const inClasses = source.match(/(?<=\[)(?:[^\\\]]|\\.)*(?=\])/g) ?? []
  const words = source
    .replaceAll(
      /\\[wsdbp](?:\{[^}]*\})?|\[(?:[^\\\]]|\\.)*\]|\(\?(?:<?[=!:]|<\w+>)|\{[\d,]+\}|[()^$*+?|]/gi,
      '\0',
    )
    .replaceAll(/\\(.)/g, '$1')
    .split('\0')
    .filter((word) => word !== '')
  const openings = words.map((_, place) => words.slice(0, place + 1).join(''))
  const starts = new Set(['', ...[...words, ...openings].flatMap((word) => [word, `${word}a`])])
  const repeated = [...words, ...words.flatMap((word) => [`${word} `, `${word}a`])]
  for (const part of new Set([...characters, ...inClasses.join(''), ...repeated])) {
    for (const start of starts) {
      for (const end of ['', '\0', '"', '!\n']) {
        yield (length) => start + part.repeat(length / part.length) + end
      }
    }
  }
}

async function assertLinear(folder: string, least: number): Promise<void> {
  const slow: string[] = []
  let count = 0
  for (const { file, text } of sourcesIn(folder)) {
    for (const [whole, source = '', flags] of text.matchAll(literal)) {
      if (source.includes('`')) continue // a slash in a template string
      const expression = new RegExp(source, flags)
      const match = (input: string) => {
        expression.lastIndex = 0
        if (expression.sticky) expression.exec(input)
        else input.split(expression)
      }
      count += 1
      for (const attack of attacksOn(source)) {
        const start = performance.now()
        match(attack(2_000))
        if (performance.now() - start < 0.5) continue // a quadratic expression takes 1 to 4 ms
        const time = await timeOf(() => match(attack(32_000)))
        if (time > longest) slow.push(`${file}: ${whole} takes ${time} ms`)
        if (time > longest) break
      }
    }
  }
  assert.deepEqual(slow, [])
  assert.ok(count > least, `${count} expressions`)
}

const sources = sourcesIn('src')
const items = '/api/v1/items'

test('every regular expression of src and of the pages reads any text in linear time', async () => {
  await assertLinear('src', 60)
  await assertLinear('pages', 30)
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

test('a path with many stars is compared with a path of 16 KB in linear time', async () => {
  for (const stars of [4, 90]) {
    const fits = scopeTest({ path: `${'*a'.repeat(stars)}*b` })
    for (const path of ['a'.repeat(200), 'a'.repeat(16_000), '/a'.repeat(8_000)]) {
      const time = await timeOf(() => assert.ok(!fits('GET', path)))
      assert.ok(time <= longest, `${time} ms for ${stars} stars`)
    }
  }
})
