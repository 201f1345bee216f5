/** Tests of the items page's list: filter, merge, columns, sort, and repeated requests for the list. */

import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { everything, type Filter } from '../../pages/items/model/filter.js'
import { type Item, itemOf, shownName } from '../../pages/items/model/item.js'
import { mergeLists } from '../../pages/items/model/merge.js'
import { createOverview } from '../../pages/items/model/overview.js'
import { createSearch } from '../../pages/items/model/search.js'
import { sortItems } from '../../pages/items/model/sort.js'
import { isPlain } from '../../pages/items/model/values.js'
import {
  type Collection,
  type CollectionOptions,
  createCollection,
  pauseAfter,
} from '../../pages/items/state/collection.js'
import { wait } from '../../src/client/fetch-text.js'
import { collectGarbage } from '../support/garbage.js'
import { until } from '../support/process.js'

const raw = String.raw
const atOnce = () => undefined

function textOf(id: string, members = '', project = 'null'): string {
  return `{"id":"${id}","project_id":${project}${members && `,${members}`}}`
}

function idsOf(items: readonly Item[]): string {
  return items.map(({ id }) => id).join('')
}

function finds(items: readonly Item[], filter: Partial<Filter>, expected: string): void {
  test(`${JSON.stringify(filter)} finds ${expected || 'nothing'}`, async () => {
    const search = createSearch(items, { ...everything, ...filter })
    await search.advance(atOnce)
    assert.equal(idsOf(search.matches), expected)
  })
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
    [{ query: 'ZÜRICH' }, 'ab'],
    [{ query: 'Zürich "X"' }, 'b'],
    [{ query: '12345678901234567891' }, ''],
    [{ query: '.b (c) [' }, 'c'],
    [{ project: 'p' }, 'bc'],
    [{ project: null }, 'ad'],
    [{ query: 'zürich', project: null }, 'a'],
  ] as const
  for (const [filter, expected] of cases) finds(items, filter, expected)

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
    await search.advance(atOnce)
    assert.equal(idsOf(search.matches), 'abcabcd')
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
    ['g', 'null'],
    ['h', '""'],
  ] as const
  const items = values.map(([id, value]) => itemOf(textOf(id, `"v":${value}`)))
  items.push(itemOf(textOf('i', '"w":"Zürich"')))
  const cases = [
    ['contains', 'zÜR', 'e'],
    ['contains', '"', 'f'], // the quotes of a string are not searched
    ['equals', '12345678901234567890.0', 'a'],
    ['equals', '10e-1', 'c'],
    ['equals', '"1"', 'd'],
    ['equals', 'Zürich', 'e'],
    ['equals', 'zürich', ''],
    ['equals', '{"x":[1]}', 'f'],
    ['equals', 'null', 'g'],
    ['equals', '""', 'h'],
    ['does not equal', '1', 'abdefgh'], // items without the member do not match
    ['is less than', '12345678901234567891', 'ac'],
    ['is at most', '1', 'c'],
    ['is greater than', '12345678901234567890', 'b'],
    ['is at least', '12345678901234567890', 'ab'],
    ['is less than', 'Z', 'dh'], // strings compare in the order of the sort
    ['is absent', '', 'i'],
  ] as const
  for (const [test, value, expected] of cases)
    finds(items, { conditions: [{ name: 'v', test, value }] }, expected)
})

test('a newer list keeps the order of the shown items, and unchanged items stay the same objects', async () => {
  const shown = list('a1 b1 e1 c1')
  const { items, changed } = await mergeLists(shown, list('c1 d1 a1 b2'), atOnce)
  assert.deepEqual([items, [...changed]], [list('a1 b2 c1 d1'), ['b', 'd']])
  // A row is not rendered again if its item is the same object.
  for (const item of items) assert.equal(shown.includes(item), !changed.has(item.id), item.id)
})

test('a project whose first item comes late in a long list has its own columns', () => {
  const overview = createOverview()
  for (let count = 0; count < 2_000; count += 1) overview.add(itemOf(textOf('x', '"other":1')))
  overview.add(itemOf(textOf('y', '"latest":1', '"late"')))
  assert.deepEqual(overview.shapeOf('late').names, ['latest'])
})

describe('the order of items by a member', () => {
  const order = async (values: string[], isDescending = false) => {
    const items = values.map((value, at) => itemOf(textOf(`${at}`, value && `"v":${value}`)))
    const sorted = await sortItems(items, { name: 'v', isDescending }, atOnce)
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

  test('the order of types is numbers, strings, false, true, arrays, objects, null, then absent members', async () => {
    const mixed = [
      ...['7', '10', '"10"', '"a"', '"B"', raw`"\u0063"`],
      ...['false', 'true', '[]', '{}', 'null', ''],
    ]
    assert.deepEqual(await order(mixed.toReversed()), mixed)
    assert.deepEqual(await order(mixed, true), [...mixed.slice(0, -1).reverse(), ''])
  })

  test('the sort of many items is stable, and can be interrupted', async () => {
    const items = Array.from({ length: 5_000 }, (_, at) => itemOf(textOf(`${at}`, `"v":${at % 7}`)))
    const sorted = await sortItems(items, { name: 'v', isDescending: false }, atOnce)
    const expected = items.toSorted((one, other) => (Number(one.id) % 7) - (Number(other.id) % 7))
    assert.deepEqual(sorted, expected)
    const end = () => assert.fail('ended')
    await assert.rejects(sortItems(items, { name: 'v', isDescending: false }, end), /ended/)
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
  assert.equal(names.length, 100)
  assert.equal(otherNames, 50 * 198 + 2 - 100) // only the first members of an item with rare members count
})

test('a member name that is invisible or begins with a quote is shown in quotes', () => {
  const shown = ['a b', '', ' ', '\n', '\u200b', '"x"'].map(shownName)
  assert.deepEqual(shown, ['a b', '""', '" "', raw`"\n"`, '"\u200b"', raw`"\"x\""`])
})

test('the pause before the next list grows with its length and failures', () => {
  assert.equal(pauseAfter(1, 0), 2_000)
  assert.equal(pauseAfter(25_000_000, 0), 20_000)
  assert.ok(pauseAfter(1, 3) > pauseAfter(1, 2))
  assert.equal(pauseAfter(1, 50), 300_000)
})

test('a merged item does not keep its part of the response in memory', async () => {
  const partLength = 2 ** 20
  const memory = () => {
    collectGarbage()
    return process.memoryUsage().heapUsed
  }
  let shown: readonly Item[] = []
  const before = memory()
  for (let round = 0; round < 40; round += 1) {
    const text = textOf(`id of item ${round}`, '"v":"long enough for a slice"')
    const part = `${text}${String(round).padEnd(partLength)}`
    const newer = itemOf(part.slice(0, text.length))
    shown = (await mergeLists(shown, [...shown, newer], atOnce)).items
  }
  assert.ok(memory() - before < 10 * partLength, `${memory() - before} bytes more`)
})

describe('the collection', () => {
  /** Creates a collection. By default, it doesn't request the list again before all tests have ended. */
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

  /** Creates a collection whose list requests get these lists in order, each in parts. The last list is repeated. */
  function collect(...lists: (string | Error)[][]) {
    let asked = 0
    const seen: string[] = []
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
      onChange: () => seen.push(ids()),
    })
    const ids = () => idsOf(collection.shown().items)
    return { collection, seen, ids, asked: () => asked }
  }

  test('items of a list that failed midway stay until the next list is complete', async () => {
    const { collection, seen, ids } = collect(['a1', 'b1', new Error('cut off')], ['b1', 'c1'])
    collection.refresh()
    await until('the list', () => collection.shown().listedAt)
    assert.equal(ids(), 'bc')
    assert.deepEqual([...new Set(seen)], ['', 'a', 'ab', 'bc'])
  })

  test('a list continues to arrive while items are saved and deleted', async () => {
    let open = () => {}
    const isOpen = new Promise<void>((resolve) => {
      open = resolve
    })
    let asked = 0
    const collection: Collection = collectionOf({
      async *list() {
        asked += 1
        yield textsOf(list('a1 b1'))
        await isOpen
        yield textsOf(list('c1 d1'))
      },
    })
    collection.refresh()
    await until('the first part', () => collection.shown().items.length === 2)
    const saved = [...list('a2 c2'), itemOf(textOf('e', '"saved":1'))]
    for (const item of saved) collection.put(item.text)
    for (const id of ['b', 'd']) collection.remove(new Set([id]))
    assert.deepEqual([collection.shown().items, collection.shown().loading], [saved, 2])
    open()
    await until('the whole list', () => collection.shown().listedAt)
    assert.deepEqual([collection.shown().items, asked], [saved, 1])
    assert.deepEqual(collection.shown().overview.shapeOf(undefined).names, ['v', 'saved'])
  })

  test('a hidden page requests nothing and waits for no change, and a shown page waits again', async () => {
    const waits: AbortSignal[] = []
    const collection = collectionOf({
      async *list(_project, _signal, onHead) {
        onHead(new Headers({ etag: '"1"' }))
        yield []
      },
      changed: async (_project, _tag, signal) => {
        waits.push(signal)
        await new Promise(() => undefined)
      },
      pauseAfter: () => 1,
    })
    collection.setVisible(false)
    collection.refresh()
    await new Promise((resolve) => setTimeout(resolve, 20)) // much longer than the pause
    assert.deepEqual([waits.length, collection.shown().listedAt], [0, undefined])
    collection.setVisible(true)
    await until('the list', () => collection.shown().listedAt)
    await until('the wait', () => waits.length === 1)
    collection.setVisible(false)
    assert.ok(waits[0]?.aborted)
  })

  test('a wait for the next list that is aborted leaves no timer behind', async () => {
    const timers = () =>
      process.getActiveResourcesInfo().filter((each) => each === 'Timeout').length
    const before = timers()
    const controller = new AbortController()
    const waiting = wait(100_000, controller.signal)
    controller.abort()
    await assert.rejects(waiting)
    assert.equal(timers(), before)
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
