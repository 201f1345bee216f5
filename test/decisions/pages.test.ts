/** Tests the web pages, their files, and the served documentation (interface §4.7 and §4.8). */

import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join, sep } from 'node:path'
import { test } from 'node:test'
import type { Answer, RequestOptions, Service } from '../conformance/client.js'
import { ownApp } from '../support/own-app.js'
import { ownService } from '../support/own-service.js'
import { exchangeOne } from '../support/socket.js'
import { readText, root } from '../support/tools.js'
import { assertHeaders, assertRefused, lasting } from './expect.js'

const assets = readdirSync(join(root, 'dist/pages/assets'))
const names = assets.filter((name) => !/\.(br|gz)$/.test(name))
const service = await ownService({ CONSOLE: 'on' })
const plain = await ownApp()
const off = await ownApp({}, { docs: false })
const items = await ownApp({}, { docs: false, console: true })
const openApi = '/openapi.json'

function get(path: string, headers: RequestOptions['headers'] = {}): Promise<Answer> {
  return service.requestTarget('GET', path, { headers })
}

const script = names.find((name) => name.startsWith('docs-') && name.endsWith('.js')) ?? ''
const asset = `/assets/${script}`

function servedFrom(path: string, file: string, type: string) {
  const title = path.replace(script, 'FILE')
  return { title, path, whole: readText(file), type: `text/${type}; charset=utf-8` }
}

const files = [
  servedFrom('/docs', 'dist/pages/docs/index.html', 'html'),
  servedFrom('/', 'dist/pages/items/index.html', 'html'),
  servedFrom(asset, `dist/pages${asset}`, 'javascript'),
]
const documents = [
  servedFrom('/llms.txt', 'docs/llms.txt', 'plain'),
  servedFrom('/SECURITY.md', 'SECURITY.md', 'markdown'),
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => join('docs', file).split(sep).join('/'))
    .map((file) => servedFrom(`/${file}`, file, 'markdown')),
]

for (const { title, path, whole, type } of [...files, ...documents]) {
  const isDocument = /markdown|plain/.test(type)

  test(`§4.8 ${title}: the response is the file of the package, with the headers for its type`, async () => {
    const answer = await get(path, isDocument ? { 'accept-encoding': 'br, gzip' } : {})
    assert.deepEqual([answer.status, answer.text], [200, whole])
    assertHeaders({ ...answer, text: '' })
    const { headers } = answer
    assert.equal(headers['content-type'], type)
    assert.equal(headers['content-length'], String(Buffer.byteLength(whole)))
    assert.equal(headers['content-encoding'], undefined)
    assert.equal(headers.vary, isDocument ? undefined : 'Accept-Encoding')
    assert.match(String(headers.etag), /^"[\w-]{43}"$/)
    const isAsset = path.startsWith('/assets/')
    const caching = isAsset ? 'public, max-age=31536000, immutable' : 'no-cache'
    assert.equal(headers['cache-control'], caching)
    assert.equal(headers['x-content-type-options'], 'nosniff')
    const policy = String(headers['content-security-policy']).split('; ').sort()
    if (isDocument) return assert.ok(policy.includes("default-src 'none'"), policy.join())
    assert.equal(headers['referrer-policy'], 'no-referrer')
    assert.deepEqual(policy, [
      ...["base-uri 'none'", "connect-src 'self'", "default-src 'none'", "form-action 'none'"],
      ...["frame-ancestors 'none'", "img-src 'self'", "require-trusted-types-for 'script'"],
      ...["script-src 'self'", "style-src 'self'", "trusted-types 'none'"],
    ])
  })
}

for (const { title, path } of [...files, ...documents, { title: 'OpenAPI', path: openApi }]) {
  test(`§4.8 ${title}: HEAD gets the response to GET without the body`, async () => {
    const headers = { 'accept-encoding': 'gzip' }
    const head = await service.requestTarget('HEAD', path, { headers })
    assert.deepEqual([head.status, head.text], [200, ''])
    assert.deepEqual(lasting(head), lasting(await get(path, headers)))
  })

  test(`§4.8 ${title}: the current ETag in If-None-Match gets a 304 without a body, with the usual headers`, async () => {
    const { text, headers } = await get(path)
    const { etag, 'cache-control': caching } = headers
    for (const method of ['GET', 'HEAD']) {
      for (const known of [etag, `W/${etag}`]) {
        const conditions = { headers: { 'if-none-match': known } }
        const same = await service.requestTarget(method, path, conditions)
        assert.deepEqual([same.status, same.text, same.headers.etag], [304, '', etag])
        assertHeaders(same)
        assert.equal(same.headers['content-type'], undefined)
        assert.equal(same.headers['cache-control'], caching)
      }
    }
    const other = await get(path, { 'if-none-match': '"a"' })
    assert.deepEqual([other.status, other.text], [200, text])
  })
}

for (const { title, path, whole } of files) {
  test(`§4.8 ${title}: the ETag gets a 304 only for the same Accept-Encoding`, async () => {
    const coded = { 'accept-encoding': 'br' }
    const tags = [(await get(path)).headers.etag, (await get(path, coded)).headers.etag]
    assert.notEqual(tags[0], tags[1])
    const { headers } = await get(path, { 'if-none-match': tags[0] })
    assert.equal(headers.vary, 'Accept-Encoding')
    assert.ok(headers['content-security-policy'])
    assert.equal((await get(path, { 'if-none-match': tags[1] })).status, 200)
    assert.equal((await get(path, { ...coded, 'if-none-match': tags[1] })).status, 304)
    const dated = { 'if-modified-since': new Date().toUTCString() }
    assert.equal((await get(path, dated)).status, 200)
  })

  test(`§4.8 ${title}: a range, a query and a trailing slash make no difference`, async () => {
    for (const suffix of ['/', '/docs'].includes(path) ? ['?a=%zz'] : ['?a=%zz', '/', '/?../a']) {
      const answer = await get(path + suffix, { range: 'bytes=0-9' })
      assert.deepEqual([answer.status, answer.text], [200, whole], suffix)
      assert.equal(answer.headers['content-range'], undefined)
    }
  })
}

/** Returns the response's decoded text, and its content coding. */
async function decoded(path: string, accept: string, own: Service = service) {
  const headers = { 'accept-encoding': accept }
  const response = await fetch(new URL(path, own.baseUrl), { headers })
  return { text: await response.text(), coding: response.headers.get('content-encoding') }
}

const codings: [accept: string, coding?: string][] = [
  ['identity'],
  ['GZIP', 'gzip'],
  ['gzip, deflate, br, zstd', 'br'],
  ['br ; q=0.5, gzip', 'br'],
  ['br;q=0, gzip;q=0.001', 'gzip'],
  ['br;q=0, gzip;q=0'],
  ['*'],
  ['brr, ;, ='],
]
for (const [accept, coding] of codings) {
  test(`§4.8 Accept-Encoding: ${accept} gets ${coding ?? 'no coding'}`, async () => {
    const expected = { text: files[2]?.whole, coding: coding ?? null }
    assert.deepEqual(await decoded(asset, accept), expected)
  })
}

const unknown = [
  ...['/assets/', '/assets/x.js', `/assets/${script}.br`, `/assets/${script}/x`, '/assets/..'],
  ...['/assets/../docs/index.html', '/assets/..%2fdocs%2findex.html', '/assets/..%5c..%5ccli.js'],
  ...['/assets/%2e%2e/%2e%2e/cli.js', '/assets/%2fetc%2fpasswd', `/assets/${script}%00`],
  ...['/docs/index.html', '/docs%2f', '/docs/how-to', '/docs/how-to/x.md', '/docs/llms.txt'],
  ...['/docs/pictures/items-page-wide-light.png', '/docs/README.md', '/docs/../README.md'],
  ...['/docs/how-to/..%2f..%2fpackage.json', '/docs/how-to%2fdev.md', '/docs/Tutorial.md'],
  ...['/docs/constructor', '/api/v1/docs/tutorial.md', '/README.md', '/bench/RESULTS.md'],
]
for (const path of unknown) {
  test(`§4.8 no page and no file has the path ${path.replace(script, 'FILE')}`, async () => {
    // Sent as plain bytes, because an HTTP client would resolve `..` in the path.
    const head = `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`
    assertRefused(await exchangeOne(service.baseUrl, head), 404, 'ROUTE_NOT_FOUND')
  })
}

test('§4.8 no file under /assets/ names another host, and every file that a page loads is served', async () => {
  for (const name of names) {
    const answer = await get(`/assets/${name}`)
    assert.equal(answer.status, 200, name)
    // The URL with localhost is an example in one of the client library's error messages.
    assert.doesNotMatch(answer.text, /https?:\/\/(?!www\.w3\.org\/|localhost:8000\/)/, name)
  }
  for (const path of ['/docs', '/']) {
    const { text } = await get(path)
    const loaded = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link = '']) => link)
    assert.ok(loaded.length >= 3, text)
    for (const link of loaded) {
      assert.doesNotMatch(link, /^\//, 'a proxy may add a prefix to the path')
      const { pathname } = new URL(link, `http://own${path}`)
      assert.equal((await get(pathname)).status, 200, link)
    }
    assert.doesNotMatch(text, /<script(?![^>]*\ssrc=)|<style|\sstyle=|\son\w+=/)
  }
})

for (const { path, largest } of [
  { path: '/docs', largest: 17_500 },
  { path: '/', largest: 40_000 },
]) {
  test(`§4.8 the first scripts and styles of ${path} have at most ${largest} bytes with Brotli`, async (t) => {
    const links = (await get(path)).text.match(/assets\/[^"]+\.(?:js|css)/g) ?? []
    assert.equal(links.length, 2, `${links}`)
    let size = 0
    for (const link of links) {
      const { headers } = await get(`/${link}`, { 'accept-encoding': 'br' })
      size += Number(headers['content-length'])
    }
    t.diagnostic(`${size} bytes`)
    assert.ok(size <= largest, `${size} bytes`)
  })
}

test('§4.8 /llms.txt is Markdown with a title and a summary, and links to each document once', async () => {
  const { text } = await get('/llms.txt')
  assert.match(text, /^# [^\n]+\n\n> [^\n]+\n\n/)
  const links = [...text.matchAll(/^- \[[^\]]+\]\(([^)]+)\): \S/gm)].map(([, link = '']) => link)
  const paths = documents.map(({ path }) => path).filter((path) => path !== '/llms.txt')
  assert.deepEqual(links.map((link) => `/${link}`).sort(), [...paths, openApi].sort())
})

test('§4.8 every link from a document to a path of the service works, except links to pictures', async () => {
  for (const { path } of documents) {
    for (const [, link = ''] of (await get(path)).text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)) {
      const { origin, pathname } = new URL(link, `http://own${path}`)
      if (origin !== 'http://own' || pathname.startsWith('/docs/pictures/')) continue
      assert.equal((await get(pathname)).status, 200, `${link} in ${path}`)
    }
  }
})

test('§4.8 /docs/ redirects to /docs, because the links of the page are relative', async () => {
  for (const path of ['/docs/', '/docs/?x']) {
    const { status, headers } = await get(path)
    assert.deepEqual([status, headers.location], [308, '../docs'], path)
  }
})

const ofDocs = [openApi, '/docs', '/docs/', ...documents.map(({ path }) => path)]
const sets: [title: string, own: Service, served: string[], others: string[], hint: string][] = [
  ['without CONSOLE=on, / is not served', plain, ['/docs', asset], ['/'], 'see /docs'],
  ['with DOCS=off and CONSOLE=on, only the items page is served', items, ['/', asset], ofDocs, ''],
  ['with DOCS=off alone, nothing is served', off, [], ['/', asset, ...ofDocs], 'all endpoints'],
]
for (const [title, own, served, others, hint] of sets) {
  test(`§4.7 §4.8 ${title}, and a 404 says where to look`, async () => {
    for (const path of served) assert.equal((await own.requestTarget('GET', path)).status, 200)
    for (const path of others) {
      const text = assertRefused(await own.requestTarget('GET', path), 404, 'ROUTE_NOT_FOUND')
      assert.ok(text.startsWith(`GET ${path} is not an endpoint; ${hint}`), text)
    }
  })
}

test('§4.8 each of the two pages links to the other page if that is served too', async () => {
  for (const [path, alone, link] of [
    ['/docs', plain, '<link rel="related" href="./"'],
    ['/', items, '<link rel="service-doc" href="docs"'],
  ] as const) {
    for (const accept of ['identity', 'gzip', 'br']) {
      assert.ok((await decoded(path, accept)).text.includes(link))
      assert.ok(!(await decoded(path, accept, alone)).text.includes(link))
    }
  }
})
