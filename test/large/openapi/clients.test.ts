/** Tests the OpenAPI document with a linter, and clients that are generated from it. */

import assert from 'node:assert/strict'
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { cli, ownService } from '../../support/own-service.js'
import { outputOf } from '../../support/process.js'
import { emptyFolder, toolCommand, toolsFolder, tsc } from '../../support/tools.js'

const generators = [
  {
    generator: 'openapi-typescript',
    args: ['openapi.json', '--output', 'generated.ts'],
    setUp: `
      import createClient from 'openapi-fetch'
      import type { paths } from './generated.js'
      const client = createClient<paths>({ baseUrl, headers: { Authorization: \`Bearer \${TOKEN}\` } })
    `,
    create: (body: string) => `client.POST('/items', { body: ${body} })`,
    read: (id: string) =>
      `client.GET('/items/{item_id}', { params: { path: { item_id: ${id} } } })`,
    list: "client.GET('/items')",
    wrong: ["client.GET('/item')", "client.DELETE('/items/{item_id}')"],
  },
  {
    generator: 'openapi-ts',
    args: ['--input', 'openapi.json', '--output', 'generated', '--no-log-file'],
    setUp: `
      import { createItem, deleteItem, listItems, readItem } from './generated/index.js'
      import { client } from './generated/client.gen.js'
      client.setConfig({ baseUrl, auth: () => TOKEN })
    `,
    create: (body: string) => `createItem({ body: ${body} })`,
    read: (id: string) => `readItem({ path: { item_id: ${id} } })`,
    list: 'listItems()',
    wrong: ["createItem({ body: { data: {}, projectId: 'demo' } })", 'deleteItem()'],
  },
]

/** Returns a program in which each line after `@ts-expect-error` must be a type error. */
function programFor({ setUp, create, read, list, wrong }: (typeof generators)[number]): string {
  const errors = [create("{ title: 'first' }"), create('{ data: 1 }'), ...wrong]
  return `
    const { BASE_URL: baseUrl = '', TOKEN } = process.env
    ${setUp}
    const body = { project_id: 'demo', data: { title: 'first', tags: ['a', { b: null }] } }
    const created = await ${create('body')}
    if (created.data === undefined) throw new Error(created.error.detail.error_code)
    const id: string = created.data.data.id
    const read = await ${read('id')}
    const title: unknown = read.data?.data.title
    const list = await ${list}
    const ids: string[] = list.data?.data.map((item) => item.id) ?? []
    const unknown = await ${read("'x'")}
    const detail: string | undefined = unknown.error?.detail.detail
    console.log(JSON.stringify({ id, title, ids, detail, item: read.data?.data }))

    export function wrong() {
      ${errors.map((call) => `// @ts-expect-error\n${call}`).join('\n')}
    }
  `
}

const compilerOptions = {
  ...{ module: 'nodenext', target: 'es2023', lib: ['es2023', 'dom', 'dom.iterable'] },
  ...{ types: ['node'], strict: true, skipLibCheck: true, outDir: 'built' },
}

for (const each of generators) {
  const { generator, args } = each
  test(`a client made by ${generator} compiles, and creates and reads an item`, async () => {
    const own = await ownService()
    const env = { ...process.env, BASE_URL: own.baseUrl.href, TOKEN: own.validToken() }
    const folder = emptyFolder()
    symlinkSync(join(toolsFolder, 'node_modules'), join(folder, 'node_modules'))
    const { text: document } = await own.requestTarget('GET', '/openapi.json')
    writeFileSync(join(folder, 'openapi.json'), document)
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }))

    const run = (...words: string[]) => outputOf(process.execPath, words, { cwd: folder, env })
    run(toolCommand(generator), ...args)
    writeFileSync(join(folder, 'program.ts'), programFor(each))
    run(tsc)
    const printed = JSON.parse(run('built/program.js'))
    const { id } = printed
    const item = { id, project_id: 'demo', title: 'first', tags: ['a', { b: null }] }
    assert.deepEqual(printed, { id, title: 'first', ids: [id], detail: 'Item x not found', item })
  })
}

test('Redocly reports no errors and no warnings for the document', () => {
  const cwd = emptyFolder()
  writeFileSync(join(cwd, 'openapi.json'), outputOf(process.execPath, [cli, 'openapi']))
  const rules = {
    ...{ 'operation-description': 'error', 'operation-tag-defined': 'error' },
    ...{ 'no-invalid-schema-examples': 'error', 'no-invalid-parameter-examples': 'error' },
  }
  writeFileSync(join(cwd, 'redocly.yaml'), JSON.stringify({ extends: ['recommended'], rules }))
  // No request or response uses these schemas (spec §2.6, §2.7), but clients may need them.
  const unused = ['TokenPayload', 'FileUploadRequest', 'FileUploadResponse']
  const locations = unused.map((name) => `#/components/schemas/${name}`)
  const ignored = { 'openapi.json': { 'no-unused-components': locations } }
  writeFileSync(join(cwd, '.redocly.lint-ignore.yaml'), JSON.stringify(ignored))
  const args = [toolCommand('redocly'), 'lint', 'openapi.json', '--format', 'json']
  const quiet = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
  const env = { ...process.env, ...quiet }
  const report = outputOf(process.execPath, args, { cwd, env })
  assert.deepEqual(JSON.parse(report).problems, [])
})
