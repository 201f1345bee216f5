/** Specification §4.8: the documentation as text, for programs that read. */

import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join, sep } from 'node:path'
import { test } from 'node:test'
import { startItemStore } from '../../../src/index.js'
import type { Answer } from '../../conformance/client.js'
import { assertRefused } from '../../decisions/expect.js'
import { ownService } from '../../support/own-service.js'
import { exchangeOne } from '../../support/socket.js'
import { root } from '../../support/tools.js'

const service = await ownService()
const documents = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.md'))
  .map((file) => `/docs/${file.split(sep).join('/')}`)

function get(path: string, headers = {}): Promise<Answer> {
  return service.requestTarget('GET', path, { headers })
}

test('§4.8 /llms.txt is Markdown with a title and a summary, and leads to each document once', async () => {
  const { text } = await get('/llms.txt')
  assert.match(text, /^# [^\n]+\n\n> [^\n]+\n\n/)
  const links = [...text.matchAll(/^- \[[^\]]+\]\(([^)]+)\): \S/gm)].map(([, link = '']) => link)
  assert.deepEqual(links.sort(), [...documents, '/openapi.json'].sort())
})

const unknown = [
  ...['/docs/how-to', '/docs/how-to/', '/docs/llms.txt', '/docs/README.md'],
  ...['/docs/how-to/x.md', '/docs/pictures/items-page-wide-light.png', '/docs/interface.md'],
  ...['/docs/reference/../tutorial.md', '/docs/../README.md', '/docs/..%2fREADME.md'],
  ...['/docs/%2e%2e/README.md', '/docs/how-to/..%2f..%2fpackage.json', '/docs/..%5cREADME.md'],
  ...['/docs/how-to%2fdev.md', '/docs//tutorial.md', '/docs/tutorial.md%00', '/docs/constructor'],
  ...['/docs/reference/constructor', '/docs/Tutorial.md', '/llms.txt/x', '/api/v1/llms.txt'],
  ...['/api/v1/docs/tutorial.md', '/README.md', '/llms-full.txt'],
]
for (const path of unknown) {
  test(`§4.8 there is no document at ${path}`, async () => {
    // By hand, as a client would resolve dots.
    const head = `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`
    assertRefused(await exchangeOne(service.baseUrl, head), 404, 'ROUTE_NOT_FOUND')
  })
}

test('§4.8 with DOCS=off there are no documents', async () => {
  const off = await ownService({ DOCS: 'off', CONSOLE: 'on' })
  for (const path of ['/llms.txt', '/docs/tutorial.md', '/docs/reference/interface.md']) {
    const answer = await off.requestTarget('GET', path)
    assertRefused(answer, 404, 'ROUTE_NOT_FOUND')
  }
})

test('§4.8 an embedded store has the documents too', async () => {
  const store = await startItemStore()
  try {
    for (const path of ['/llms.txt', '/docs/tutorial.md']) {
      const response = await fetch(store.url + path)
      assert.equal(
        await response.text(),
        readFileSync(join(root, 'docs', path.replace('/docs', '')), 'utf8'),
      )
    }
  } finally {
    await store.stop()
  }
})

test('§4.7 the OpenAPI document leads to /llms.txt', async () => {
  const { externalDocs } = JSON.parse((await get('/openapi.json')).text)
  assert.equal(externalDocs.url, `${service.baseUrl.origin}/llms.txt`)
})
