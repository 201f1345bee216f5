/** The types that users of the library get, with each module resolution that they may have. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { userProject } from '../../support/user-project.js'

/** Lines after `@ts-expect-error` have to be errors. */
const program = `
import { type EmbeddedItemStore, startItemStore } from 'item-store'
import type { ItemStoreClient } from 'item-store/client'

interface Todo { readonly title: string }

export async function use(): Promise<void> {
  const store: EmbeddedItemStore = await startItemStore({ port: 0, maxBodyBytes: 1000 })
  const client: ItemStoreClient<Todo> = store.client<Todo>({ sub: 'alice' })
  const [id = '']: string[] = await store.seed([{ title: 'a' }, { data: {}, project_id: 'p' }])
  const title: string = (await client.get(id)).title
  const token: string = await store.token({ expires: '15m' })
  await store.reset()
  await store[Symbol.asyncDispose]()
  console.log(store.url, store.baseUrl, token, title)

  // @ts-expect-error it logs nothing
  await startItemStore({ logLevel: 'info' })
  // @ts-expect-error a time has a unit
  await store.token({ expires: 15 })
  // @ts-expect-error items are objects
  await store.seed(['a'])
  // @ts-expect-error a member is missing
  await client.create({})
}
`

const { compile } = userProject(program)

const node = { lib: ['es2022'], types: ['node'] }
const without = { lib: ['es2022', 'dom'], types: [] }
const nodenext = { module: 'nodenext' }
const bundler = { module: 'esnext', moduleResolution: 'bundler' }

for (const { title, options } of [
  { title: 'nodenext', options: { ...node, ...nodenext } },
  { title: 'bundler', options: { ...node, ...bundler } },
  { title: 'without the types of Node.js', options: { ...without, ...bundler } },
]) {
  test(`${title}: types are found, strict, and right`, () => {
    assert.equal(compile({ ...options, noEmit: true }), '')
  })
}
