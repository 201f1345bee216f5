/** Decisions on §2.1 and §2.2: an item keeps every value as it was written. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { itemOf, record } from '../conformance/expect.js'
import { useService } from '../conformance/service.js'
import { createText, itemText, sendText } from './expect.js'

const service = await useService()
const deep = 100_000

/** Texts of the members of `data`, each to be kept byte for byte. */
const kept = {
  'no members': '',
  'order of names': '"10":1,"b":2,"2":3,"a":4',
  '__proto__ at the top': '"a":1,"__proto__":{"admin":true}',
  '__proto__ in an object': '"a":{"__proto__":null,"__proto__x":1}',
  constructor: '"constructor":{"prototype":{"x":1}},"toString":1,"hasOwnProperty":null,"toJSON":{}',
  'empty names': '"":1,"a":{"":{"":[]}}',
  unicode: '"ключ":"é e\u0301 漢字 🦄","\u2028":"\u2029\u007f\u0085\ufeff\uffff","ﬁ":"\u202e"',
  'names of the interface':
    '"data":{"data":1},"session_id":"x","status":7,"message":null,"detail":[]',
  'id and project_id further down': '"a":{"id":1,"project_id":2},"b":[{"id":3}]',
  'id and project_id in other letter case': '"ID":1,"Id":2,"Project_ID":3," id":4,"id ":5',
  'a long string': `"a":"${'x'.repeat(1_000_000)}"`,
  'a long number': `"a":${'9'.repeat(100_000)}.${'1'.repeat(100_000)}`,
  'many members': Array.from({ length: 10_000 }, (_, index) => `"m${index}":${index}`).join(),
}
for (const [title, members] of Object.entries(kept)) {
  test(`§2.1 kept as written: ${title}`, async () => {
    const text = (id: string) => `{"id":"${id}","project_id":"p"${members && `,${members}`}}`
    const body = `{"project_id":"p","data":{${members}}}`
    await assertStoredAs(body, text)
  })
}

test('§2.1 kept as written: project_id', async () => {
  const projectId = String.raw`"caf\u00e9 é \ud83d \/ \u0000"`
  await assertStoredAs(`{"data":{"a":1},"project_id":${projectId}}`, (id) => {
    return `{"id":"${id}","project_id":${projectId},"a":1}`
  })
})

for (const [name, open, close] of [
  ['arrays', '[', ']'],
  ['objects', '{"a":', '}'],
] as const) {
  test(`§2.1 ${deep} ${name} nested in each other are kept`, async () => {
    const value = `${open.repeat(deep)}1${close.repeat(deep)}`
    const body = `{"data":{"deep":${value}}}`
    await assertStoredAs(body, (id) => `{"id":"${id}","project_id":null,"deep":${value}}`)
    assert.equal((await service.call('GET', '/items')).status, 200)
  })
}

/** Members of `data` and what becomes of them. */
const changed: [title: string, members: string, expected: string][] = [
  ['id', '"id":"x","a":1', '"a":1'],
  ['id alone', '"id":"x"', ''],
  ['id last', '"a":1,"id":{"b":2}', '"a":1'],
  ['id between', '"a":1.0, "id" : [1] , "b":2.0', '"a":1.0,"b":2.0'],
  ['project_id', '"project_id":"evil","a":1', '"a":1'],
  ['both', '"id":1,"project_id":2', ''],
  ['white space alone', ' \n', ''],
  ['"\\u0069d"', String.raw`"\u0069d":"x","a":1`, '"a":1'],
  ['"project\\u005fid"', String.raw`"a":1,"project\u005Fid":"x"`, '"a":1'],
  ['id twice, escaped in two ways', String.raw`"id":1,"a":1,"\u0069\u0064":2`, '"a":1'],
]
for (const [title, members, expected] of changed) {
  test(`§2.1 dropped from data: ${title}`, async () => {
    await assertStoredAs(`{"data":{${members}},"project_id":"own"}`, (id) => {
      return `{"id":"${id}","project_id":"own"${expected && `,${expected}`}}`
    })
  })
}

const repeated: [title: string, members: string, value: object][] = [
  ['twice', '"a":1,"b":2.0,"a":3.0', { a: 3, b: 2 }],
  ['three times', '"a":1,"a":{"x":1},"a":[2]', { a: [2] }],
  ['escaped in two ways', String.raw`"a":1,"\u0061":2,"b":0`, { a: 2, b: 0 }],
  ['and is empty', '"":1,"":2', { '': 2 }],
  ['with the same value', '"a":1,"a":1', { a: 1 }],
]
for (const [title, members, value] of repeated) {
  test(`§2.1 a member comes ${title}: the last one counts`, async () => {
    const answer = await sendText(service, 'POST', '/items', `{"data":{${members}}}`)
    const { id, project_id, ...rest } = itemOf(answer, 201)
    assert.deepEqual(rest, value)
    // Nothing of the others is left in the text either.
    const names = [...itemText(answer).matchAll(/"([^"]*)":/g)].map(([, name]) => name)
    const expected = ['id', 'project_id', ...Object.keys(value)].length
    assert.equal(names.filter((name) => name !== 'x').length, expected, itemText(answer))
  })
}

test('§2.1 __proto__ comes twice: the last one counts', async () => {
  const body = '{"data":{"__proto__":{"a":1},"b":2,"__proto__":{"c":3}}}'
  await assertStoredAs(body, (id) => {
    return `{"id":"${id}","project_id":null,"b":2,"__proto__":{"c":3}}`
  })
})

const requests: [title: string, body: string, item?: object, project?: string][] = [
  ['data twice', '{"data":{"a":1},"data":{"b":2}}', { b: 2 }],
  ['data twice, first invalid', '{"data":1,"data":{"b":2}}', { b: 2 }],
  ['data escaped in two ways', String.raw`{"data":{"a":1},"d\u0061ta":{}}`, {}],
  ['project_id twice', '{"project_id":"a","data":{},"project_id":"b"}', {}, 'b'],
  ['project_id "" then "b"', '{"project_id":"","data":{},"project_id":"b"}', {}, 'b'],
  ['project_id then null', '{"project_id":"a","data":{},"project_id":null}'],
  ['project_id omitted', '{"data":{"a":1}}', { a: 1 }],
  ['project_id null', '{"data":{},"project_id":null}'],
  ['unknown members', '{"x":1,"id":2,"data":{},"__proto__":{"project_id":"x"}}'],
  ['data under __proto__ too', '{"__proto__":{"data":{"x":1}},"data":{}}'],
]
for (const [title, body, item = {}, project = null] of requests) {
  test(`§2.1 §2.2 ${title} in the request`, async () => {
    const { id, ...rest } = itemOf(await sendText(service, 'POST', '/items', body), 201)
    assert.deepEqual(rest, { project_id: project, ...item })
  })
}

test('§2.1 members come as id, project_id, then those of data in the order sent', async () => {
  const body = '{"data":{"z":1,"id":0,"1":2,"a":3},"project_id":"p"}'
  const answer = await sendText(service, 'POST', '/items', body)
  const names = [...itemText(answer).matchAll(/"(\w+)":/g)].map(([, name]) => name)
  assert.deepEqual(names, ['id', 'project_id', 'z', '1', 'a'])
  assert.equal(record(answer.json()).status, 'created')
})

/** Creates, reads, lists and replaces; each answer has to show the item as this very text. */
async function assertStoredAs(body: string, text: (id: string) => string): Promise<void> {
  const created = await sendText(service, 'POST', '/items', body)
  assert.equal(created.status, 201, created.text.slice(0, 500))
  const id = await createText(service, '{"data":{"old":true},"project_id":"old"}')
  const replaced = await sendText(service, 'PUT', `/items/${id}`, body)
  assert.equal(replaced.status, 200, replaced.text.slice(0, 500))
  const ids = [/"id":"([^"]+)"/.exec(itemText(created))?.[1] ?? '', id]

  assertSame(itemText(created), text(ids[0] ?? ''))
  assertSame(itemText(replaced), text(id))
  const { text: list } = await service.call('GET', '/items')
  for (const one of ids) {
    assertSame(itemText(await service.call('GET', `/items/${one}`)), text(one))
    assert.ok(list.includes(text(one)), 'the list shows another text')
    assert.equal((await service.call('DELETE', `/items/${one}`)).status, 204)
  }
}

/** Equal, with a short message where texts of megabytes differ. */
function assertSame(actual: string, expected: string): void {
  if (actual === expected) return
  assert.equal(actual.slice(0, 500), expected.slice(0, 500))
  assert.fail(`${actual.length} characters instead of ${expected.length}, or other ones`)
}
