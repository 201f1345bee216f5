import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMemoryStore } from '../store/memory/store.js'
import { newItemId } from './id.js'
import { encodeItem } from './item-request.js'
import { InvalidSeedError, parseSeed, storeItems } from './seed.js'

/** The items of a seed, without the opening with the id. */
function itemsOf(seed: string | Buffer): string[] {
  const id = newItemId()
  const items = parseSeed(Buffer.from(seed)).map((item) => encodeItem(id, item).toString())
  return items.map((item) => item.replace(`{"id":"${id}","project_id":`, ''))
}

const seeds = [
  { what: 'an array', seed: '[{"a":1},\n {"b":2}]', items: ['null,"a":1}', 'null,"b":2}'] },
  { what: 'an empty array', seed: ' [ ] ', items: [] },
  {
    what: 'one object per line',
    seed: '{"a":1}\n{"b":2}\n',
    items: ['null,"a":1}', 'null,"b":2}'],
  },
  {
    what: 'CR LF and empty lines',
    seed: '{"a":1}\r\n\r\n{"b":2}',
    items: ['null,"a":1}', 'null,"b":2}'],
  },
  { what: 'an object over several lines', seed: '{\n "a": 1\n}', items: ['null,"a": 1}'] },
  { what: 'a byte order mark', seed: '\ufeff[{"a":1}]', items: ['null,"a":1}'] },
  { what: 'an empty object', seed: '{}', items: ['null}'] },
  { what: 'a request', seed: '{"data":{"a":1},"project_id":"p"}', items: ['"p","a":1}'] },
  { what: 'a request without project_id', seed: '{"d\\u0061ta":{"a":1}}', items: ['null,"a":1}'] },
  {
    what: 'a plain object with a project_id, and an id that is dropped',
    seed: '{"id":7,"project_id":"p\\u0071","a":1}',
    items: ['"p\\u0071","a":1}'],
  },
  {
    what: 'a plain object with other members beside data',
    seed: '{"data":{"a":1},"title":"t"}',
    items: ['null,"data":{"a":1},"title":"t"}'],
  },
  {
    what: 'texts that parsing would change',
    seed: '[{"n":12345678901234567890,"d":1.0,"e":1e400,"__proto__":{},"2":0,"1":"\\u0041 \\ud800"}]',
    items: [
      'null,"n":12345678901234567890,"d":1.0,"e":1e400,"__proto__":{},"2":0,"1":"\\u0041 \\ud800"}',
    ],
  },
  {
    what: 'nesting of any depth',
    seed: `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
    items: [`null,"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
  },
]
for (const { what, seed, items } of seeds) {
  test(`a seed may be or have ${what}`, () => assert.deepEqual(itemsOf(seed), items))
}

const invalid = [
  { what: 'nothing', seed: ' \n', says: 'line 2, column 1: expected an object' },
  {
    what: 'text that is not JSON',
    seed: 'title,price\n',
    says: 'line 1, column 1: expected an object',
  },
  { what: 'a number', seed: '[{"a":1}, 2]', says: 'line 1, column 11: expected an object' },
  { what: 'an array in the array', seed: '[[]]', says: 'line 1, column 2: expected an object' },
  { what: 'a comma too many', seed: '[{},\n]', says: 'line 2, column 1: expected an object' },
  { what: 'commas between lines', seed: '{},\n{}', says: 'line 1, column 3: expected an object' },
  {
    what: 'no closing bracket',
    seed: '[{"ä":1}\n',
    says: 'line 2, column 1: expected a comma or "]", but the text ends here',
  },
  { what: 'no end', seed: '{"a":1}\n{"ä": x}', says: 'line 2, column 7: expected a value' },
  {
    what: 'text after the array',
    seed: '[{}]\n[{}]',
    says: 'line 2, column 1: unexpected text after the array',
  },
  {
    what: 'a request without an object as data',
    seed: '[{},\n  {"data":7}]',
    says: 'line 2, column 3: Invalid item request: data must be an object',
  },
  {
    what: 'an empty project_id',
    seed: '{"a":1}\n{"a":1,"project_id":""}',
    says: 'line 2, column 1: Invalid item request: project_id must have at least 1 character',
  },
  {
    what: 'bytes that are not UTF-8',
    seed: Buffer.from('{"a":1}\n{"ä":"\xff"}', 'latin1'),
    says: 'line 2, column 3: not valid UTF-8',
  },
  {
    what: 'a character cut short',
    seed: Buffer.from([0x7b, 0xc3]),
    says: 'line 1, column 2: not valid UTF-8',
  },
]
for (const { what, seed, says } of invalid) {
  test(`a seed with ${what}: an error with line and column`, () => {
    assert.throws(
      () => parseSeed(Buffer.from(seed)),
      (error) => {
        assert.ok(error instanceof InvalidSeedError)
        assert.equal(error.message, says)
        return true
      },
    )
  })
}

test('storeItems stores them in order, each with an id of its own', async () => {
  const store = createMemoryStore(100_000)
  await storeItems(store, parseSeed(Buffer.from('{"n":1.0}\n{"n":1.0}\n{"n":2}')))
  const list = await store.list()
  const chunks: Uint8Array[] = []
  for await (const chunk of list.chunks) chunks.push(chunk)
  const text = Buffer.concat(chunks).toString()
  list.release()
  const items = [...text.matchAll(/\{"id":"([^"]+)","project_id":null,"n":([\d.]+)\}/g)]
  assert.deepEqual(
    items.map(([, , n]) => n),
    ['1.0', '1.0', '2'],
  )
  assert.equal(new Set(items.map(([, id]) => id)).size, 3)
  await store.close()
})
