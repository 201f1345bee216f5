/** Tests clients that are generated from the OpenAPI document. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { ownService } from '../../support/own-service.js'
import { emptyFolder } from '../../support/tarball.js'
import { toolCommand, toolsFolder, tsc } from '../../support/tools.js'

/** Each line after `@ts-expect-error` must be a type error. */
const programs = [
  {
    generator: 'openapi-typescript',
    args: ['openapi.json', '--output', 'generated.ts'],
    text: `
      import createClient from 'openapi-fetch'
      import type { paths } from './generated.js'

      const { BASE_URL: baseUrl = '', TOKEN } = process.env
      const client = createClient<paths>({ baseUrl, headers: { Authorization: \`Bearer \${TOKEN}\` } })

      const created = await client.POST('/items', {
        body: { project_id: 'demo', data: { title: 'first', tags: ['a', { b: null }] } },
      })
      if (created.data === undefined) throw new Error(created.error.detail.error_code)
      const status: 'created' = created.data.status
      const id: string = created.data.data.id
      const read = await client.GET('/items/{item_id}', { params: { path: { item_id: id } } })
      const title: unknown = read.data?.data.title
      const list = await client.GET('/items')
      const ids: string[] = list.data?.data.map((item) => item.id) ?? []
      const unknown = await client.GET('/items/{item_id}', { params: { path: { item_id: 'x' } } })
      const detail: string | undefined = unknown.error?.detail.detail
      console.log(JSON.stringify({ status, id, title, ids, detail, item: read.data?.data }))

      export function wrong() {
        // @ts-expect-error data is missing
        client.POST('/items', { body: { title: 'first' } })
        // @ts-expect-error data is not an object
        client.POST('/items', { body: { data: 1 } })
        // @ts-expect-error there is no such path
        client.GET('/item')
        // @ts-expect-error the id is missing
        client.DELETE('/items/{item_id}')
      }
    `,
  },
  {
    generator: 'openapi-ts',
    args: ['--input', 'openapi.json', '--output', 'generated', '--no-log-file'],
    text: `
      import { createItem, deleteItem, listItems, readItem } from './generated/index.js'
      import { client } from './generated/client.gen.js'

      const { BASE_URL: baseUrl = '', TOKEN } = process.env
      client.setConfig({ baseUrl, auth: () => TOKEN })

      const created = await createItem({
        body: { project_id: 'demo', data: { title: 'first', tags: ['a', { b: null }] } },
      })
      if (created.data === undefined) throw new Error(created.error.detail.error_code)
      const status: 'created' = created.data.status
      const id: string = created.data.data.id
      const read = await readItem({ path: { item_id: id } })
      const title: unknown = read.data?.data.title
      const list = await listItems()
      const ids: string[] = list.data?.data.map((item) => item.id) ?? []
      const unknown = await readItem({ path: { item_id: 'x' } })
      const detail: string | undefined = unknown.error?.detail.detail
      console.log(JSON.stringify({ status, id, title, ids, detail, item: read.data?.data }))

      export function wrong() {
        // @ts-expect-error data is missing
        createItem({ body: { title: 'first' } })
        // @ts-expect-error data is not an object
        createItem({ body: { data: 1 } })
        // @ts-expect-error project_id is misspelt
        createItem({ body: { data: {}, projectId: 'demo' } })
        // @ts-expect-error the id is missing
        deleteItem()
      }
    `,
  },
]

const compilerOptions = {
  module: 'nodenext',
  target: 'es2023',
  lib: ['es2023', 'dom', 'dom.iterable'],
  types: ['node'],
  strict: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: true,
  outDir: 'built',
}

for (const { generator, args, text } of programs) {
  test(`a client made by ${generator} compiles, and creates and reads an item`, async () => {
    const own = await ownService()
    const folder = emptyFolder()
    symlinkSync(join(toolsFolder, 'node_modules'), join(folder, 'node_modules'))
    const { text: document } = await own.requestTarget('GET', '/openapi.json')
    writeFileSync(join(folder, 'openapi.json'), document)
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }))

    run(folder, [toolCommand(generator), ...args])
    writeFileSync(join(folder, 'program.ts'), text)
    run(folder, [tsc])
    const env = { BASE_URL: String(own.baseUrl), TOKEN: own.validToken() }
    const { id, ...told } = JSON.parse(run(folder, ['built/program.js'], env))
    assert.match(id, /^[\da-f-]{36}$/)
    assert.deepEqual(told, {
      status: 'created',
      title: 'first',
      ids: [id],
      detail: 'Item x not found',
      item: { id, project_id: 'demo', title: 'first', tags: ['a', { b: null }] },
    })
  })
}

/** @throws {Error} with all output if the program fails. */
function run(cwd: string, args: string[], env: NodeJS.ProcessEnv = {}): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd,
    env: { ...process.env, ...env },
    encoding: 'utf8',
    timeout: 600_000,
  })
  assert.equal(status, 0, `${args.join(' ')}\n${stdout}${stderr}`)
  return stdout
}
