/** Tests a client that is generated from the OpenAPI document. */

import assert from 'node:assert/strict'
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { ownService } from '../../support/own-service.js'
import { outputOf } from '../../support/process.js'
import { emptyFolder, toolCommand, toolsFolder, tsc } from '../../support/tools.js'

/** A user's program. Each line after `@ts-expect-error` must be a type error. */
const program = `
import createClient from 'openapi-fetch'
import type { paths } from './generated.js'

const { BASE_URL: baseUrl = '', TOKEN } = process.env
const client = createClient<paths>({ baseUrl, headers: { Authorization: \`Bearer \${TOKEN}\` } })
const read = (item_id: string) => client.GET('/items/{item_id}', { params: { path: { item_id } } })
const body = { project_id: 'demo', data: { title: 'first', tags: ['a', { b: null }] } }
const created = await client.POST('/items', { body })
if (created.data === undefined) throw new Error(created.error.detail.error_code)
const id: string = created.data.data.id
const { data } = await read(id)
const title: unknown = data?.data.title
const list = await client.GET('/items')
const ids: string[] = list.data?.data.map((item) => item.id) ?? []
const { error } = await read('x')
const detail: string | undefined = error?.detail.detail
console.log(JSON.stringify({ id, title, ids, detail, item: data?.data }))

export function wrong() {
  // @ts-expect-error data is missing
  client.POST('/items', { body: { title: 'first' } })
  // @ts-expect-error data is not an object
  client.POST('/items', { body: { data: 1 } })
  // @ts-expect-error no such path
  client.GET('/item')
  // @ts-expect-error the id is missing
  client.DELETE('/items/{item_id}')
}
`

const compilerOptions = {
  ...{ module: 'nodenext', target: 'es2023', lib: ['es2023', 'dom', 'dom.iterable'] },
  ...{ types: ['node'], strict: true, skipLibCheck: true, outDir: 'built' },
}

test('a client made by openapi-typescript compiles, and creates and reads an item', async () => {
  const own = await ownService()
  const folder = emptyFolder()
  symlinkSync(join(toolsFolder, 'node_modules'), join(folder, 'node_modules'))
  const { text: document } = await own.requestTarget('GET', '/openapi.json')
  writeFileSync(join(folder, 'openapi.json'), document)
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }))
  writeFileSync(join(folder, 'program.ts'), program)

  const env = { ...process.env, BASE_URL: own.baseUrl.href, TOKEN: own.validToken() }
  const run = (...words: string[]) => outputOf(process.execPath, words, { cwd: folder, env })
  run(toolCommand('openapi-typescript'), 'openapi.json', '--output', 'generated.ts')
  run(tsc)
  const printed = JSON.parse(run('built/program.js'))
  const { id } = printed
  const item = { id, project_id: 'demo', title: 'first', tags: ['a', { b: null }] }
  assert.deepEqual(printed, { id, title: 'first', ids: [id], detail: 'Item x not found', item })
})
