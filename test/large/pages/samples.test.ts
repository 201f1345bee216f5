/** Tests of the API page's code samples, which run against the service. */

import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { type OpenApiDocument, operationsOf } from '../../../pages/docs/openapi.js'
import { type Input, requestFor } from '../../../pages/docs/request.js'
import { type Language, quickStart, samples } from '../../../pages/docs/samples.js'
import { ownService } from '../../support/own-service.js'
import { unlessMissing } from '../../support/tools.js'
import { userProject } from '../../support/user-project.js'

const service = await ownService()
const { folder } = userProject('')
const env = { ...process.env, TOKEN: service.validToken() }

const { href } = service.baseUrl
const response = await fetch(new URL('/openapi.json', href))
const operations = operationsOf((await response.json()) as OpenApiDocument, href) // trusted, like on the page

type Runner = readonly [command: string, file: string]

const inShell: Runner = ['bash', 'sample.sh']
const runners: readonly (readonly [Language, Runner])[] = [
  ['curl', inShell],
  ['JavaScript', [process.execPath, 'sample.mjs']],
  ['TypeScript', [process.execPath, 'sample.mjs']],
  ['Python', ['python3', 'sample.py']],
]

const hasRequests = spawnSync('python3', ['-c', 'import requests']).status === 0

async function run([command, file]: Runner, program: string): Promise<string> {
  writeFileSync(join(folder, file), program)
  const { stdout } = await promisify(execFile)(command, [file], { cwd: folder, env })
  return stdout
}

function sampleOf(language: Language, operationId: string, input: Input): string {
  const operation = operations.find((each) => each.operationId === operationId)
  const request = operation && requestFor(operation, input, '')
  assert.ok(operation && request, operationId)
  return samples[language]({ operation, input, request })
}

async function stored(id: string): Promise<string | undefined> {
  const { text } = await service.call('GET', `/items/${id}`)
  return /"data":\{"id":"[^"]+",(.*)\}\}$/s.exec(text)?.[1]
}

for (const [language, runner] of runners) {
  const missing = language === 'Python' && !hasRequests && 'requests of Python'
  test(`code in ${language} sends what the form contains`, unlessMissing(missing), async () => {
    const call = (operation: string, parameters = {}, body?: string) =>
      run(runner, sampleOf(language, operation, { parameters, body }))
    const idIn = (text: string) => text.match(/[\da-f]{8}-[\da-f-]{27}/g)?.at(-1) ?? ''
    const first =
      '{\n  "project_id": "demo",\n  "data": {\n    "title": "Buy milk",\n    "price": 1.5\n  }\n}'
    const item_id = idIn(await call('createItem', {}, first))
    assert.equal(
      (await stored(item_id))?.replaceAll(/\s/g, ''),
      '"project_id":"demo","title":"Buymilk","price":1.5',
    )
    assert.ok((await call('readItem', { item_id })).includes('Buy milk'))
    assert.ok((await call('listItems')).includes(item_id))
    assert.ok(!(await call('listItems', { project_id: 'of nobody & all' })).includes(item_id))
    await call('replaceItem', { item_id }, '{"data": {"title": "Buy milk", "done": true}}')
    assert.match(
      (await stored(item_id)) ?? '',
      /^"project_id":null,"title": ?"Buy milk",\s*"done": ?true$/,
    )
    await call('deleteItem', { item_id, 'If-Match': '"another"' }).catch((error: Error) =>
      assert.match(error.message, /PRECONDITION_FAILED/),
    )
    assert.ok(await stored(item_id), 'it had another tag')
    await call('deleteItem', { item_id })
    assert.equal(await stored(item_id), undefined)
    assert.ok((await call('checkHealth')).includes('healthy'))

    // The body has values that a parser would change. Body and headers are sent exactly as typed.
    const members = `"n": 12345678901234567890, "p": 1.0, "it's": "\\u0041 \`$TOKEN", "__proto__": -0`
    const body = `{"data": {${members}}}`
    const key = { 'Idempotency-Key': `the'only'one-${language}` }
    if (language === 'TypeScript') {
      const sample = sampleOf(language, 'createItem', { parameters: key, body })
      return assert.match(sample, /^\/\/ .*cannot send this/)
    }
    const text = await call('createItem', key, body)
    const createdId = idIn(text)
    assert.equal(idIn(await call('createItem', key, body)), createdId)
    assert.equal(await stored(createdId), `"project_id":null,${members}`)
    assert.ok(text.includes('12345678901234567890') && text.includes('1.0'), text)
  })
}

test('the quick start creates an item and lists it', async () => {
  const program = `item-store() { echo '${env.TOKEN}'; }\n${quickStart(href)}`
  const output = await run(inShell, program)
  assert.match(output, /"Item created successfully".*"Items retrieved successfully".*"Buy milk"/s)
})
