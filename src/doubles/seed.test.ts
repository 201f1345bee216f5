import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { encodeItem } from '../../test/support/item-text.js'
import { newItemId } from '../item/id.js'
import type { ItemStore } from '../store/item-store.js'
import { createMemoryStore } from '../store/memory/store.js'
import { parseSeed, readSeed, storeItems } from './seed.js'

function itemsOf(seed: string | Buffer): string[] {
  const id = newItemId()
  const items = parseSeed(Buffer.from(seed)).map((item) => encodeItem(id, item).toString())
  return items.map((item) => item.replace(`{"id":"${id}","project_id":`, ''))
}

const seeds: Record<string, [seed: string, ...items: string[]]> = {
  'an array': ['[{"a":1},\n {"b":2}]', 'null,"a":1}', 'null,"b":2}'],
  'an empty array': [' [ ] '],
  'one object per line': ['{"a":1}\n{"b":2}\n', 'null,"a":1}', 'null,"b":2}'],
  'CR LF and empty lines': ['{"a":1}\r\n\r\n{"b":2}', 'null,"a":1}', 'null,"b":2}'],
  'an object over several lines': ['{\n "a": 1\n}', 'null,"a": 1}'],
  'a byte order mark': ['\ufeff[{"a":1}]', 'null,"a":1}'],
  'a request': ['{"data":{"a":1},"project_id":"p"}', '"p","a":1}'],
  'a request without project_id': ['{"d\\u0061ta":{"a":1}}', 'null,"a":1}'],
  'an object with a project_id': ['{"id":7,"project_id":"p\\u0071","a":1}', '"p\\u0071","a":1}'],
  'other members besides data': ['{"data":{},"title":"t"}', 'null,"data":{},"title":"t"}'],
}

for (const [what, [seed, ...items]] of Object.entries(seeds)) {
  test(`parseSeed accepts ${what}`, () => assert.deepEqual(itemsOf(seed), items))
}

const invalid: Record<string, [seed: string | Buffer, says: string]> = {
  'an empty text': [' \n', 'line 2, column 1: expected an object'],
  'text that is not JSON': ['title,price\n', 'line 1, column 1: expected an object'],
  'commas between lines': ['{},\n{}', 'line 1, column 3: expected an object'],
  'a missing closing bracket': [
    '[{"ä":1}\n',
    'line 2, column 1: expected a comma or "]", but the text ends here',
  ],
  'a malformed value': ['{"a":1}\n{"ä": x}', 'line 2, column 7: expected a value'],
  'text after the array': ['[{}]\n[{}]', 'line 2, column 1: unexpected text after the array'],
  'a request without an object as data': [
    '[{},\n  {"data":7}]',
    'line 2, column 3: Invalid item request: data must be an object',
  ],
  'bytes that are not UTF-8': [
    Buffer.from('{"a":1}\n{"ä":"\xff"}', 'latin1'),
    'line 2, column 1: The body is not valid UTF-8',
  ],
}

for (const [what, [seed, says]] of Object.entries(invalid)) {
  test(`parseSeed rejects ${what}, and says in which line and column`, () => {
    assert.throws(() => itemsOf(seed), { name: 'UsageError', message: says })
  })
}

const long = 'é'.repeat(500_000)
const spaces = ' '.repeat(500_000)
const slowSeeds: [seed: string, pauses: number, fails?: true][] = [
  ['{}'.repeat(300), 300],
  [`{"a":"${long}","b":1}`, 490],
  [`[{"a":"${long}"},]`, 730, true],
  [`{"a":["${long}",{]}`, 480, true],
  [`${spaces}[${spaces}{}${spaces},${spaces}{}]${spaces}`, 600],
  [`{}${spaces}{}${spaces}`, 240],
]
for (const [seed, pauses, fails] of slowSeeds) {
  test(`readSeed pauses at least ${pauses} times for ${seed.slice(0, 9)}… of ${seed.length} characters`, () => {
    const reading = readSeed(Buffer.from(seed))
    let count = 0
    const read = () => {
      while (!reading.next().done) count += 1
    }
    if (fails) assert.throws(read, { name: 'UsageError' })
    else read()
    assert.ok(count >= pauses, `${count}`)
  })
}

function work(): void {
  for (const start = performance.now(); performance.now() - start < 1; );
}

test('other requests are served while the items of a seed are stored, or deleted because not all fit', async () => {
  for (const [room, stored, outcome] of [
    [1e6, 300, 300],
    [20_000, 0, 'STORE_FULL'],
  ] as const) {
    const memory = createMemoryStore(room)
    const create: ItemStore['create'] = (id, item) => {
      work()
      return memory.create(id, item)
    }
    const item = { projectId: Buffer.from('null'), members: Buffer.from('"a":1') }
    let isDone = false
    const storing = storeItems({ ...memory, create }, Array(300).fill(item))
      .then(
        ({ length }) => length,
        ({ code }) => code,
      )
      .finally(() => {
        isDone = true
      })
    const seen = new Set<number>()
    for (; !isDone; await nextTurn()) seen.add((await memory.size()).items)
    assert.deepEqual([await storing, (await memory.size()).items], [outcome, stored])
    assert.ok(seen.size > 100, [...seen].join())
  }
})
