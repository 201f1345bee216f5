/** Tests the OpenAPI document as it is served (interface §4.7). */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { cli, ownService } from '../support/own-service.js'
import { manifest } from '../support/tools.js'
import { assertHeaders } from './expect.js'

const path = '/openapi.json'
const own = await ownService()
const served = await own.requestTarget('GET', path)
const tag = String(served.headers.etag)

test('§4.7 the document is the one that `item-store openapi` prints, with the version of the package', () => {
  const { stdout } = spawnSync(process.execPath, [cli, 'openapi'], { encoding: 'utf8' })
  const document = JSON.parse(served.text)
  const printed = JSON.parse(stdout)
  assert.equal(printed.servers[0].url, '/api/v1')
  assert.equal(printed.externalDocs.url, '/llms.txt')
  const { servers, externalDocs } = printed
  assert.deepEqual({ ...document, servers, externalDocs }, printed)
  assert.equal(document.openapi, '3.1.0')
  assert.equal(document.info.version, manifest.version)
  const models = Object.keys(document.components.schemas)
  for (const model of ['TokenPayload', 'FileUploadRequest', 'FileUploadResponse']) {
    assert.ok(models.includes(model), model)
  }
})

test('§4.7 the document has the address of a valid Host, and each address has its own ETag', async () => {
  const known = new Set([tag])
  for (const [host, origin] of [
    ['items.example', 'http://items.example'],
    ['a:99999', ''],
  ] as const) {
    const { text, headers } = await own.requestTarget('GET', path, { headers: { host } })
    assert.equal(text, served.text.replaceAll(own.baseUrl.origin, origin))
    assert.ok(!known.has(String(headers.etag)))
    known.add(String(headers.etag))
    const again = { headers: { host, 'if-none-match': headers.etag } }
    assert.equal((await own.requestTarget('GET', path, again)).status, 304)
  }
})

test('§4.7 the document needs no token, and has the usual headers and those for revalidation', () => {
  assert.equal(served.status, 200)
  assertHeaders({ ...served, text: '' }) // the document contains no session id
  assert.equal(served.headers['content-type'], 'application/json')
  assert.equal(served.headers['content-length'], String(Buffer.byteLength(served.text)))
  assert.equal(served.headers['cache-control'], 'no-cache')
  assert.match(tag, /^"[\w-]{43}"$/)
})
