/** Tests the types of the client and of the library in users' projects, for browsers and Node.js. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { requireTool, tsc } from '../../support/tools.js'
import { userProject } from '../../support/user-project.js'

/** A user's program. Each line after `@ts-expect-error` must be a type error. */
const program = `
import { ItemStoreClient, ItemStoreError, tagOf, type Item, type StoredItem, type TaggedItem } from 'item-store/client'
import { ItemResponse } from 'item-store/models'

interface Todo { readonly title: string; done?: boolean }
type Shape = { kind: 'circle'; r: number } | { kind: 'square'; a: number }
interface WithId { id: string; title: string }

const options = { baseUrl: new URL('http://localhost:8000/api/v1'), token: async () => 'a' }
export const todos = new ItemStoreClient<Todo>(options)
export const free = new ItemStoreClient({ ...options, fetch, json: JSON, timeout: undefined })
export const shapes = new ItemStoreClient<Shape>(options)
export const withId = new ItemStoreClient<WithId>(options)

export async function use(todo: Todo, signal: AbortSignal | undefined): Promise<void> {
  const item = await todos.create({ title: 'a' }, { projectId: 'p', signal })
  const title: string = item.title
  const projectId: string | null = item.project_id
  await todos.replace(item.id, { ...item, done: true }, { projectId })
  const tag: string = tagOf(item)
  await todos.replace(item.id, item, { ifMatch: tag, projectId })
  await todos.delete(item.id, { ifMatch: item })
  await todos.create({ title: 'a' }, { idempotencyKey: 'a' })
  const updated = await todos.update(item.id, (old) => ({ ...old, done: !old.done }))
  await todos.update(item.id, async () => undefined, { isRepeatable: true, signal })
  for await (const { title } of todos.watch(item.id, { signal })) console.log(title, updated.done)
  for await (const [first] of todos.watch({ signal })) console.log(first?.title)
  for await (const { id, done } of todos.items({ signal })) if (done) await todos.delete(id)
  const texts: string[] = await todos.listText()
  const items: StoredItem<Todo>[] = [...(await todos.list()), await todos.get(item.id)]
  const { overload, services_summary: { total } } = await todos.health()

  const any: Item = await free.create(todo)
  const unknown: unknown = any.whatever
  await free.create({ a: [1] })
  await shapes.create({ kind: 'circle', r: 1 })
  const shape = await shapes.get('id')
  const side: number = shape.kind === 'square' ? shape.a : shape.r
  const { id, title: other }: WithId = await withId.create({ title: 'a' })

  await todos.create({ title: 'a', project_id: projectId })
  const shown: TaggedItem<Todo> = await todos.get(item.id)
  await todos.replace(item.id, { ...shown, title: 'b' }, { ifMatch: shown })
  for await (const state of todos.watch(item.id)) await todos.delete(item.id, { ifMatch: state })
  await todos.update(item.id, (old) => tagOf(old) === tag ? old : undefined)
  const [listed] = await todos.list()
  if (!listed) return

  // @ts-expect-error an item of a list has no tag
  await todos.replace(listed.id, { title: 'b' }, { ifMatch: listed })
  // @ts-expect-error an item of a list has no tag
  for await (const [each] of todos.watch()) if (each) await todos.delete(each.id, { ifMatch: each })
  // @ts-expect-error an item of a list has no tag
  for await (const each of todos.items()) tagOf(each)
  // @ts-expect-error a copy has no tag
  await todos.replace(item.id, shown, { ifMatch: { ...shown } })

  // @ts-expect-error project_id must be a string
  await todos.create({ title: 'a', project_id: 1 })
  // @ts-expect-error the option token is missing
  new ItemStoreClient({ baseUrl: 'a' })
  // @ts-expect-error the member title is missing
  await todos.create({})
  // @ts-expect-error the member title must be a string
  await todos.create({ title: 1 })
  // @ts-expect-error the member title is missing
  await todos.update(item.id, () => ({ done: true }))
  // @ts-expect-error not a member of the type union
  await shapes.create({ kind: 'circle', a: 1 })
  // @ts-expect-error data must be an object
  await free.create('a')
  // @ts-expect-error no such member
  item.text
  // @ts-expect-error the type of the member is unknown
  any.whatever.more
  // @ts-expect-error a model has no such member
  ItemResponse.text

  try {
    console.log(items, title, texts, overload, total, unknown, side, id, other)
  } catch (error) {
    if (!(error instanceof ItemStoreError)) throw error
    const status: number | undefined = error.status
    if (error.code === 'TOKEN_EXPIRED' || error.code === 'TIMEOUT' || error.code === 'other') return
    console.log(status, error.sessionId?.length, error.retryAfter?.toFixed())
  }
}

`

/** Continues the program with the embedded store, whose types need TypeScript 5.2. */
const embedding = `
import { type EmbeddedItemStore, startItemStore } from 'item-store'

interface Note { readonly title: string }

export async function embed(): Promise<void> {
  const store: EmbeddedItemStore = await startItemStore({ port: 0, maxBodyBytes: 1000 })
  const client: ItemStoreClient<Note> = store.client<Note>({ sub: 'alice' })
  const [id = '']: string[] = await store.seed([{ title: 'a' }, { data: {}, project_id: 'p' }])
  const title: string = (await client.get(id)).title
  const token: string = await store.token({ expires: '15m' })
  await store.reset()
  await store[Symbol.asyncDispose]()
  console.log(store.url, store.baseUrl, token, title)

  // @ts-expect-error the embedded store has no log level
  await startItemStore({ logLevel: 'info' })
  // @ts-expect-error the time needs a unit
  await store.token({ expires: 15 })
  // @ts-expect-error data must be an object
  await store.seed(['a'])
  // @ts-expect-error the member title is missing
  await client.create({})
}
`

const browser = { lib: ['es2020', 'dom'], types: [] }
const node = { lib: ['es2020'], types: ['node'] }
const nodenext = { module: 'nodenext', verbatimModuleSyntax: true }
const bundler = { module: 'esnext', moduleResolution: 'bundler', verbatimModuleSyntax: true }
const node10 = { module: 'commonjs', moduleResolution: 'node10' }
const node16 = { module: 'node16' }

const old = requireTool.resolve('typescript-5.0/lib/tsc.js')
const five = requireTool.resolve('typescript/lib/tsc.js') // the last version with node10
const whole = program + embedding

for (const [version, compiler, text, type, resolution, environment] of [
  ['5.0', old, program, 'commonjs', node10, node],
  ['5.0', old, program, 'commonjs', node16, node],
  ['5.0', old, program, 'module', bundler, browser],
  ['5', five, whole, 'commonjs', node10, browser],
  ['5', five, whole, 'commonjs', node16, node],
  ['5', five, whole, 'module', bundler, node],
  ['of this repository', tsc, whole, 'commonjs', node16, browser],
  ['of this repository', tsc, whole, 'commonjs', { module: 'nodenext' }, node],
  ['of this repository', tsc, whole, 'module', nodenext, browser],
  ['of this repository', tsc, whole, 'module', nodenext, node],
  ['of this repository', tsc, whole, 'module', bundler, browser],
  ['of this repository', tsc, whole, 'module', bundler, node],
] as const) {
  const { module, moduleResolution = module }: { module: string; moduleResolution?: string } =
    resolution
  const place = environment === node ? 'Node.js' : 'a browser'
  test(`types for ${place} are found, strict and correct: TypeScript ${version}, ${type}, ${moduleResolution}`, () => {
    const options = { verbatimModuleSyntax: false, ...environment, ...resolution, noEmit: true }
    assert.equal(userProject(text, type).compile(options, compiler), '')
  })
}
