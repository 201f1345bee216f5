/** Tests of the items page's list: filter, merge, columns, sort, and repeated requests for the list. */

import assert from 'node:assert/strict'
import { after, describe, mock, test } from 'node:test'
import fc from 'fast-check'
import {
  type Collection,
  type CollectionOptions,
  createCollection,
  pauseAfter,
  type Shown,
} from '../../../pages/items/collection.js'
import { type Condition, everything, type Filter, matchesAll } from '../../../pages/items/filter.js'
import { type Item, isPlain, itemOf, kindOf, shownName } from '../../../pages/items/item.js'
import { inOrder, moved, sortedBy } from '../../../pages/items/layout.js'
import { caughtUp, mergeLists } from '../../../pages/items/merge.js'
import { createOverview } from '../../../pages/items/overview.js'
import { columnsAt, rowsAt, topFor } from '../../../pages/items/range.js'
import { createSearch } from '../../../pages/items/search.js'
import { compareNumbers, type Sort, sortItems } from '../../../pages/items/sort.js'
import { collectGarbage } from '../../support/garbage.js'
import { until } from '../../support/until.js'

const raw = String.raw
const atOnce = () => undefined

function textOf(id: string, members = '', project = 'null'): string {
  return `{"id":"${id}","project_id":${project}${members && `,${members}`}}`
}

function idsOf(items: readonly Item[]): string {
  return items.map(({ id }) => id).join('')
}

async function found(items: readonly Item[], filter: Partial<Filter>): Promise<string> {
  const search = createSearch(items, { ...everything, ...filter })
  await search.advance(atOnce)
  return idsOf(search.matches)
}

/** @param text such as `a1 b1`, for items `a` and `b` whose member `v` is 1. */
function list(text: string): Item[] {
  const items = text.split(' ').filter(Boolean)
  return items.map((each) => itemOf(textOf(each.slice(0, -1), `"v":${each.at(-1)}`)))
}

function textsOf(items: readonly Item[]): string[] {
  return items.map(({ text }) => text)
}

describe('the filter', () => {
  const items = [
    textOf('a', '"name":"Zürich","n":12345678901234567890'),
    textOf('b', raw`"name":"Z\u00fcrich \"x\""`, '"p"'),
    textOf('c', '"name":"a.b (c) [d]"', raw`"\u0070"`),
    textOf('d', '"name":"p"'),
  ].map(itemOf)
  const cases = [
    [{ query: '"id"' }, 'abcd'],
    [{ query: 'ZÜRICH' }, 'ab'],
    [{ query: 'Zürich "X"' }, 'b'],
    [{ query: '12345678901234567890' }, 'a'],
    [{ query: '12345678901234567891' }, ''],
    [{ query: '.b (c) [' }, 'c'],
    [{ query: '*' }, ''],
    [{ project: 'p' }, 'bc'],
    [{ project: null }, 'ad'],
    [{ query: 'zürich', project: null }, 'a'],
  ] as const
  for (const [filter, expected] of cases) {
    test(`${JSON.stringify(filter)} finds ${expected || 'nothing'}`, async () => {
      assert.equal(await found(items, filter), expected)
    })
  }

  test('a search continues where it stopped when the list has grown, even after an interruption', async () => {
    const growing = items.slice(0, 3)
    const search = createSearch(growing, { ...everything, query: 'a' })
    let left = 2
    const end = () => {
      left -= 1
      if (left === 0) throw new Error('ended')
    }
    await assert.rejects(search.advance(end), /ended/)
    growing.push(...items)
    const look = mock.fn(atOnce)
    await search.advance(look)
    assert.equal(look.mock.callCount(), 5)
    assert.equal(search.matches.length, 7)
    await search.advance(() => assert.fail('there is nothing more'))
  })
})

describe('a condition', () => {
  const values = [
    ['a', '12345678901234567890'],
    ['b', '12345678901234567891'],
    ['c', '1.0'],
    ['d', '"1"'],
    ['e', raw`"Z\u00fcrich"`],
    ['f', '{ "x" : [1] }'],
    ['g', 'true'],
    ['h', 'null'],
    ['i', '""'],
  ] as const
  const items = values.map(([id, value]) => itemOf(textOf(id, `"v":${value}`)))
  items.push(itemOf(textOf('j', '"w":"Zürich"')))
  const cases = [
    ['contains', 'zÜR', 'e'],
    ['contains', '901234567891', 'b'],
    ['contains', '"', 'f'], // the quotes of a string are not searched
    ['equals', '12345678901234567890.0', 'a'],
    ['equals', '1', 'c'],
    ['equals', '10e-1', 'c'],
    ['equals', '"1"', 'd'],
    ['equals', 'Zürich', 'e'],
    ['equals', 'zürich', ''],
    ['equals', '{"x":[1]}', 'f'],
    ['equals', '{"x":[1.0]}', ''],
    ['equals', 'true', 'g'],
    ['equals', 'null', 'h'],
    ['equals', '""', 'i'],
    ['does not equal', '1', 'abdefghi'], // items without the member do not match
    ['is less than', '12345678901234567891', 'ac'],
    ['is at most', '1', 'c'],
    ['is greater than', '12345678901234567890', 'b'],
    ['is at least', '12345678901234567890', 'ab'],
    ['is less than', 'Z', 'di'], // strings compare in the order of the sort
    ['is greater than', 'a', 'e'],
    ['is absent', '', 'j'],
    ['contains', '', 'abcdefghij'], // an incomplete condition is ignored
  ] as const
  for (const [kind, value, expected] of cases) {
    test(`${JSON.stringify([kind, value])} finds ${expected || 'nothing'}`, async () => {
      const conditions: Condition[] = [{ name: 'v', test: kind, value }]
      assert.equal(await found(items, { conditions }), expected)
      const isAll = expected.length === items.length
      assert.equal(matchesAll({ ...everything, conditions }), isAll)
    })
  }

  test('all conditions have to be met, together with the search and the project', async () => {
    const conditions: Condition[] = [
      { name: 'v', test: 'contains', value: '1234' },
      { name: 'v', test: 'equals', value: '12345678901234567891' },
    ]
    assert.equal(await found(items, { query: '91', project: null, conditions }), 'b')
  })
})

describe('the merge of a newer list into the shown list', () => {
  const cases = [
    ['no change', 'a1 b1', 'a1 b1', { merged: 'a1 b1', changed: '', gone: 0 }],
    ['a new item', 'a1', 'a1 b1', { merged: 'a1 b1', changed: 'b', gone: 0 }],
    ['a changed item', 'a1 b1 c1', 'a1 b2 c1', { merged: 'a1 b2 c1', changed: 'b', gone: 0 }],
    ['a deleted item', 'a1 b1 c1', 'a1 c1', { merged: 'a1 c1', changed: '', gone: 1 }],
    ['another order', 'a1 b1 c1', 'c1 d1 a1 b2', { merged: 'a1 b2 c1 d1', changed: 'bd', gone: 0 }],
  ] as const
  for (const [what, shown, newer, { merged, changed, gone }] of cases) {
    test(what, async () => {
      const before = list(shown)
      const result = await mergeLists(before, list(newer), atOnce)
      assert.deepEqual(result.items, list(merged))
      assert.deepEqual([[...result.changed].join(''), result.gone], [changed, gone])
      // An unchanged item stays the same object, so that its row is not rendered again.
      for (const item of result.items) {
        assert.equal(before.includes(item), !result.changed.has(item.id), item.id)
      }
    })
  }
})

test('a moved column takes the place of its target column, and is pinned like the target', () => {
  const names = ['p', 'a', 'b', 'c']
  const cases = [
    ['c', 'a', 'p,c,a,b', 'p'],
    ['a', 'c', 'p,b,c,a', 'p'],
    ['b', 'p', 'b,p,a,c', 'p,b'],
    ['p', 'b', 'a,b,p,c', ''],
  ] as const
  for (const [name, target, expected, pinned] of cases) {
    const layout = moved(names, ['p'], name, target)
    assert.deepEqual([`${layout.names}`, `${layout.pinned}`], [expected, pinned])
  }
  assert.deepEqual(inOrder(['a', 'b', 'c'], ['c']), ['c', 'a', 'b'])
})

test('search results and sorted items from before a change have the current versions of the items', () => {
  const known = list('a1 b1 c1 d1 b2')
  /** @param letters ids, and `B` for the newer version of `b`. */
  const items = (letters: string) =>
    [...letters].map((letter) => known['abcdB'.indexOf(letter)] ?? assert.fail(letter))
  for (const [now, expected] of [
    ['abc', 'cba'],
    ['aBc', 'cBa'],
    ['ac', 'ca'],
    ['', ''],
    ['abcd', 'cba'],
    ['caB', 'cBa'],
  ] as const) {
    const part = { items: items('cba'), all: items('abc') }
    assert.deepEqual(caughtUp(part, items(now)), items(expected))
  }
})

test('columns are the members in the order in which they first appear', () => {
  const overview = createOverview()
  const texts = ['"b":1,"a":1', '"a":1,"c":1', '"c":{"d":1},"a":2', '"__proto__":1']
  for (const text of texts) overview.add(itemOf(textOf('x', text, '"p"')))
  const shape = overview.shapeOf(undefined)
  assert.deepEqual(shape.names, ['b', 'a', 'c', '__proto__'])
  assert.deepEqual([...overview.projects], [['p', 4]])
  assert.deepEqual(shape.names.map(shape.isCommon), [false, true, false, false])
  overview.add(itemOf(textOf('y', `"a":"${'x'.repeat(99)}"`)))
  overview.add(itemOf(textOf('z', '"c":[1,[2,3],"4,5"]')))
  overview.add(itemOf(textOf('w', '"d":"日本語 ひらがな 한국 １"')))
  assert.deepEqual(shape.names, ['b', 'a', 'c', '__proto__', 'd'])
  const widths = ['a', 'b', 'c', 'd'].map((name) => shape.widths.get(name))
  assert.deepEqual(widths, [25, 1, 13, 22]) // letters are narrower than digits; `d` has ten characters of double width
})

test('a new item has the members of most items of its project, each with an empty value of its type', () => {
  const overview = createOverview()
  const add = (project: string, text: string) => overview.add(itemOf(textOf('x', text, project)))
  add('"p"', '"s":null,"n":-1,"odd":1,"b":true,"a":[1],"o":{"x":1},"z":null')
  add('"p"', '"s":"x","n":2,"b":1,"a":{},"o":{},"z":null')
  add('"q"', '"other":1')
  const blanks = ['"s": ""', '"n": 0', '"b": false', '"a": []', '"o": {}', '"z": null']
  assert.deepEqual(overview.shapeOf('p').blanks(), blanks)
  assert.deepEqual(overview.shapeOf('q').blanks(), ['"other": 0'])
  assert.deepEqual(overview.shapeOf('no item'), overview.shapeOf(undefined))
  for (let count = 0; count < 2_000; count += 1) add('"q"', '"other":1')
  add('"late"', '"latest":1')
  assert.deepEqual(overview.shapeOf('late').names, ['latest'])
})

describe('the order of items by a member', () => {
  const order = async (values: string[], isDescending = false) => {
    const items = values.map((value, at) => itemOf(textOf(`${at}`, value && `"v":${value}`)))
    const sorted = await sortItems(items, [{ name: 'v', isDescending }], atOnce)
    return sorted.map(({ id }) => values[Number(id)] ?? '')
  }
  const numbers = [
    ['-1e999999999999999999999', '-12345678901234567891', '-12345678901234567890', '-1e2', '-99.5'],
    ['-0.1', '-1e-400', '0', '1e-400', '0.1', '0.25', '1', '1.5', '1e1', '99.5', '1e2', '1e19'],
    ['12345678901234567890', '12345678901234567890.5', '12345678901234567891', '1e400', '1E+401'],
  ].flat()

  test('numbers are sorted by their values, without rounding', async () => {
    assert.deepEqual(await order(numbers.toReversed()), numbers)
    assert.deepEqual(await order(numbers, true), numbers.toReversed())
    const same = ['1.0', '1', '10e-1', '0.1e1', '100.0e-2', '-0', '0', '0e5', '0.00']
    assert.deepEqual(await order(same), [...same.slice(5), ...same.slice(0, 5)])
    assert.deepEqual(await order(same, true), same)
  })

  test('any two doubles are compared by their values, in both notations', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true }), fc.double({ noNaN: true }), (one, other) => {
        fc.pre(Number.isFinite(one) && Number.isFinite(other))
        const expected = one === other ? 0 : one < other ? -1 : 1
        for (const text of [`${one}`, one.toExponential()]) {
          assert.equal(Math.sign(compareNumbers(text, `${other}`)), expected)
        }
      }),
    )
  })

  test('the order of types is numbers, strings, false, true, arrays, objects, null, then absent members', async () => {
    const mixed = [
      ...['7', '10', '"10"', '"a"', '"B"', raw`"\u0063"`],
      ...['false', 'true', '[]', '{}', 'null', ''],
    ]
    assert.deepEqual(await order(mixed.toReversed()), mixed)
    assert.deepEqual(await order(mixed, true), [...mixed.slice(0, -1).reverse(), ''])
  })

  test('a second sort key orders items whose first member is equal or absent', async () => {
    const members = [
      ...['"v":2,"w":1', '"v":1.0,"w":1', '"w":2', '"v":1', '"w":7'],
      ...['"v":1,"w":3', '"v":1,"w":2'],
    ]
    const items = members.map((each, at) => itemOf(textOf(`${at}`, each)))
    const sort: Sort = [
      { name: 'v', isDescending: false },
      { name: 'w', isDescending: true },
    ]
    assert.equal(idsOf(await sortItems(items, sort, atOnce)), '5613042')
  })

  test('clicks on a column sort ascending, descending, then not at all; with Shift, they add a sort key', () => {
    let sort: Sort = []
    const clicks = [
      ['a', false, 'a'],
      ['b', true, 'a,b'],
      ['a', true, '-a,b'],
      ['c', true, '-a,b,c'],
      ['a', true, 'b,c'],
      ['b', false, 'b'],
      ['b', false, '-b'],
      ['b', false, ''],
      ['c', true, 'c'],
      ['b', false, 'b'],
    ] as const
    for (const [name, isAdded, expected] of clicks) {
      sort = sortedBy(sort, name, isAdded)
      const keys = sort.map((key) => `${key.isDescending ? '-' : ''}${key.name}`)
      assert.equal(`${keys}`, expected)
    }
  })

  test('the sort of many items is stable, and can be interrupted', async () => {
    const items = Array.from({ length: 5_000 }, (_, at) => itemOf(textOf(`${at}`, `"v":${at % 7}`)))
    const sorted = await sortItems(items, [{ name: 'v', isDescending: false }], atOnce)
    const expected = items.toSorted((one, other) => (Number(one.id) % 7) - (Number(other.id) % 7))
    assert.deepEqual(sorted, expected)
    const end = () => assert.fail('ended')
    await assert.rejects(sortItems(items, [{ name: 'v', isDescending: false }], end), /ended/)
  })
})

test('a string is shown without quotes only if it does not look like another value', () => {
  const plain = [
    ...['a', 'a b', 'ä', 'nullable', '<b>', '12 Main Street', '2026-11-23T10:00:00Z', '10.0.0.1'],
    ...['-', '+', 'a"b', raw`C:\dir`, '1,5', 'e5'],
  ]
  const others = [
    ...['', ' a', 'a ', '1', '-1.50', '01', '+1', '.5', '1e5', 'true', 'NULL', '[1]', '{', '"a"'],
    ...['\n', 'a\nb', '\u200ba', 'a\u202eb', 'a\u2028'],
  ]
  assert.deepEqual([...plain, ...others].filter(isPlain), plain)
  const kinds = {
    string: ['"1"'],
    number: ['1', '-1'],
    nested: ['[]', '{}'],
    literal: ['true', 'null'],
  }
  for (const [kind, texts] of Object.entries(kinds)) {
    for (const text of texts) assert.equal(kindOf(text), kind, text)
  }
})

test('common members get columns even if other items have many rare members', () => {
  const overview = createOverview()
  const odd = (prefix: number) =>
    Array.from({ length: 500 }, (_, number) => `"${prefix}-${number}":1`).join(',')
  for (let number = 0; number < 50; number += 1) {
    overview.add(itemOf(textOf('x', odd(number))))
    overview.add(itemOf(textOf('x', '"title":1,"price":2')))
  }
  const { names, otherNames } = overview.shapeOf(undefined)
  assert.ok(names.includes('title') && names.includes('price'))
  assert.equal(names.length, 200)
  assert.equal(otherNames, 50 * 198 + 2 - 200) // only the first members of an item with rare members count
})

test('a member name that is invisible or begins with a quote is shown in quotes', () => {
  const shown = ['a b', '', ' ', '\n', '\u200b', '"x"'].map(shownName)
  assert.deepEqual(shown, ['a b', '""', '" "', raw`"\n"`, '"\u200b"', raw`"\"x\""`])
})

test('the visible rows and columns are rendered, and some more around them', () => {
  assert.deepEqual(rowsAt(0, 400, 40, 0), { first: 0, end: 0 })
  assert.deepEqual(rowsAt(0, 400, 40, 5), { first: 0, end: 5 })
  for (const top of [0, 1, 999, 40_000, 3_999_600]) {
    const { first, end } = rowsAt(top, 400, 40, 100_000)
    assert.ok(first <= top / 40 && end >= Math.min(100_000, (top + 400) / 40), `${top}`)
    assert.ok(end - first < 60 && end <= 100_000, `${end - first} rows at ${top}`)
  }
  const ends = (count: number) => Array.from({ length: count }, (_, column) => (column + 1) * 10)
  assert.deepEqual(columnsAt(-7, 63, ends(7)), { first: 0, end: 7 })
  assert.deepEqual(columnsAt(Number.NaN, Number.NaN, []), { first: 0, end: 0 })
  assert.deepEqual(columnsAt(500, 570, ends(190)), { first: 48, end: 64 })
  assert.deepEqual(columnsAt(100, 110, [5, 200, 210, 1000]), { first: 0, end: 4 })
  assert.equal(topFor(3, 0, 400, 40), 0)
  assert.equal(topFor(10, 0, 400, 40), 40)
  assert.equal(topFor(3, 200, 400, 40), 120)
})

test('the pause before the next list grows with its length, duration and failures', () => {
  assert.equal(pauseAfter(1, 1, 0), 2_000)
  assert.equal(pauseAfter(25_000_000, 1, 0), 20_000)
  assert.equal(pauseAfter(1, 10_000, 0), 10_000)
  assert.ok(pauseAfter(1, 1, 3) > pauseAfter(1, 1, 2))
  assert.equal(pauseAfter(1, 60_000, 50), 300_000)
})

test('a merged item does not keep its part of the response in memory', async () => {
  const memory = () => {
    collectGarbage()
    return process.memoryUsage().heapUsed
  }
  const pieceLength = 2 ** 20
  let shown: readonly Item[] = []
  const before = memory()
  for (let round = 0; round < 40; round += 1) {
    const text = textOf(`id of item ${round}`, '"long enough":"to be a part"')
    const piece = `${text}${String(round).padEnd(pieceLength)}`
    const newer = itemOf(piece.slice(0, text.length))
    shown = (await mergeLists(shown, [...shown, newer], atOnce)).items
  }
  assert.equal(shown.length, 40)
  assert.ok(memory() - before < 10 * pieceLength, `${memory() - before} bytes more`)
})

describe('the collection', () => {
  /** Creates a collection. By default, its second request for the list comes later than the end of any test. */
  function collectionOf(
    options: Partial<CollectionOptions> & Pick<CollectionOptions, 'list'>,
  ): Collection {
    const collection = createCollection({
      changed: () => Promise.reject(new Error('it pauses')),
      pauseAfter: () => 100_000,
      isFinal: () => false,
      onChange: () => undefined,
      ...options,
    })
    after(() => collection.stop())
    return collection
  }

  /** Creates a collection that receives the parts of each list in order. The last list is repeated. */
  function collect(...lists: (string | Error)[][]) {
    let asked = 0
    const seen: Shown[] = []
    const collection: Collection = collectionOf({
      async *list(_project, signal, onHead) {
        onHead(new Headers({ etag: `"${asked}"` }))
        const parts = lists[Math.min(asked, lists.length - 1)] ?? []
        asked += 1
        for (const part of parts) {
          signal.throwIfAborted()
          if (part instanceof Error) throw part
          yield textsOf(list(part))
        }
      },
      changed: async () => undefined,
      pauseAfter: () => 1,
      isFinal: (problem) => String(problem).includes('final'),
      onChange: () => seen.push({ ...collection.shown(), items: [...collection.shown().items] }),
    })
    const ids = () => idsOf(collection.shown().items)
    return { collection, seen, ids, asked: () => asked }
  }

  /** Waits for the first list. */
  async function listed(collection: Collection): Promise<Date> {
    collection.refresh()
    return await until('the list', () => collection.shown().listedAt)
  }

  function gate(): { passed: Promise<void>; open: () => void } {
    let open = () => {}
    const passed = new Promise<void>((resolve) => {
      open = resolve
    })
    return { passed, open }
  }

  test('the collection grows while the first list arrives, and then updates itself', async () => {
    const { collection, seen, ids } = collect(['a1 b1', '', 'c1'], ['a1 c2 d1'])
    assert.ok((await listed(collection)) <= new Date())
    const lengths = seen.map(({ items }) => items.length)
    assert.deepEqual(lengths.slice(0, 4), [0, 2, 2, 3])
    await until('the second list', () => ids() === 'acd')
    const { changed, news } = seen.find(({ items }) => items[1]?.id === 'c') ?? collection.shown()
    assert.deepEqual([[...changed], news], [['c', 'd'], '2 new or changed, 1 gone'])
  })

  test('the number of changed and deleted items is written with separators of thousands', async () => {
    const many = Array.from({ length: 1000 }, (_, number) => `b${number}:1`)
    const { collection } = collect([many.join(' ')], ['a1'])
    collection.refresh()
    await until('the news', () => collection.shown().news === '1 new or changed, 1,000 gone')
  })

  test('items that the page creates, replaces and deletes change at once in the collection', async () => {
    const { collection, ids } = collect(['a1 b1'])
    await listed(collection)
    collection.stop()
    collection.put(textOf('c'))
    collection.put(textOf('a', '"x":1'))
    collection.remove(new Set(['b']))
    assert.equal(ids(), 'ac')
    assert.equal(collection.shown().items[0]?.text, textOf('a', '"x":1'))
    collection.refresh()
    await until('the list again', () => ids() === 'ab')
  })

  test('the list is requested again after each change, and changed items are marked for a moment', async () => {
    const waits: { tag: string; end: () => void }[] = []
    let version = 1
    const seen: string[] = []
    const collection: Collection = collectionOf({
      async *list(_project, _signal, onHead) {
        onHead(new Headers({ etag: `"${version}"` }))
        yield textsOf(list(`a1 b${version}`))
      },
      changed: (_project, tag, signal) =>
        new Promise((resolve, reject) => {
          waits.push({ tag, end: resolve })
          signal.addEventListener('abort', () => reject(signal.reason))
        }),
      pauseAfter: () => 1,
      onChange: () => seen.push([...collection.shown().changed].join()),
    })
    collection.refresh()
    await until('the wait', () => waits.length === 1)
    version += 1
    waits[0]?.end()
    await until('the next wait', () => waits.length === 2)
    assert.equal(waits.map(({ tag }) => tag).join(), '"1","2"')
    assert.deepEqual(collection.shown().items, list('a1 b2'))
    await until('the end of the mark', () => collection.shown().changed.size === 0)
    assert.ok(seen.includes('b'))
    // Hiding the page ends the wait for a change. Showing the page starts another wait.
    collection.setVisible(false)
    collection.setVisible(true)
    await until('another wait', () => waits.length === 3)
  })

  test('the share of the list that has arrived is known if the response has a Content-Length', async () => {
    const text = textOf('a')
    const shares: (number | undefined)[] = []
    const collection: Collection = collectionOf({
      async *list(_project, _signal, onHead) {
        onHead(new Headers({ 'content-length': `${4 * (text.length + 1)}` }))
        yield [text]
        yield [textOf('b'), textOf('c')]
      },
      onChange: () => shares.push(collection.shown().share),
    })
    await listed(collection)
    assert.deepEqual(shares.slice(0, 3), [undefined, 0.25, 0.75])
  })

  test('a list without an ETag is requested again after each pause', async () => {
    let asked = 0
    const collection = collectionOf({
      async *list() {
        asked += 1
        yield []
      },
      changed: () => assert.fail('there is no tag to wait for'),
      pauseAfter: () => 1,
    })
    collection.refresh()
    await until('the third list', () => asked >= 3)
  })

  test('an item that was saved while a list arrived keeps its saved version', async () => {
    const older = gate()
    let asked = 0
    let isSaved = false
    let wasTakenBack = false
    const collection: Collection = collectionOf({
      async *list() {
        asked += 1
        if (asked === 2) await older.passed
        yield textsOf(list(asked === 3 ? 'a2' : 'a1'))
      },
      onChange() {
        wasTakenBack ||= isSaved && collection.shown().items[0]?.text === textOf('a', '"v":1')
      },
    })
    await listed(collection)
    collection.refresh()
    isSaved = true
    collection.put(textOf('a', '"v":2'))
    older.open()
    await new Promise((resolve) => setTimeout(resolve, 20))
    assert.equal(asked, 2)
    collection.refresh()
    await until('the last list', () => collection.shown().loading === undefined)
    assert.deepEqual([asked, wasTakenBack], [3, false])
  })

  test('items of a list that failed midway stay until the next list is complete', async () => {
    const { collection, seen, ids } = collect(['a1', 'b1', new Error('cut off')], ['b1', 'c1'])
    await listed(collection)
    assert.equal(ids(), 'bc')
    const shown = new Set(seen.map(({ items }) => idsOf(items)))
    assert.deepEqual([...shown], ['', 'a', 'ab', 'bc'])
    assert.equal(collection.shown().news, '')
  })

  test('a list continues to arrive while items are saved and deleted', async () => {
    const rest = gate()
    let asked = 0
    const collection: Collection = collectionOf({
      async *list() {
        asked += 1
        yield textsOf(list('a1 b1'))
        await rest.passed
        yield textsOf(list('c1 d1'))
      },
    })
    collection.refresh()
    await until('the first part', () => collection.shown().items.length === 2)
    const saved = [...list('a2 c2'), itemOf(textOf('e', '"saved":1'))]
    for (const item of saved) collection.put(item.text)
    for (const id of ['b', 'd']) collection.remove(new Set([id]))
    assert.deepEqual([collection.shown().items, collection.shown().loading], [saved, 2])
    rest.open()
    await until('the whole list', () => collection.shown().listedAt)
    assert.deepEqual([collection.shown().items, asked], [saved, 1])
    assert.deepEqual(collection.shown().overview.shapeOf(undefined).names, ['v', 'saved'])
  })

  test('a hidden page requests nothing, and requests the list at once when it is shown', async () => {
    const { collection, asked } = collect(['a1'])
    collection.setVisible(false)
    await listed(collection)
    await new Promise((resolve) => setTimeout(resolve, 20)) // many times the pause
    assert.equal(asked(), 1)
    collection.setVisible(true)
    await until('the next list', () => asked() > 2)
  })

  test('the collection keeps its items when a list fails, and retries unless the problem is final', async () => {
    const failures = [[new Error('not now')], [new Error('final')]]
    const { collection, ids, asked } = collect(['a1'], ...failures)
    collection.refresh()
    await until('the last failure', () => String(collection.shown().problem).includes('final'))
    assert.equal(ids(), 'a')
    await new Promise((resolve) => setTimeout(resolve, 20))
    assert.equal(asked(), 3)
    collection.refresh()
    assert.equal(asked(), 4)
  })
})
