/** Tests of what happens to typed text on the items page, for each event in each state. They need no browser. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ChangeSet, Text } from '@codemirror/state'
import fc from 'fast-check'
import { withSpaceOf } from '../../pages/items/edit/untouched-space.js'
import {
  checkDraft,
  formattedDraft,
  isSameItem,
  whyInvalid,
  withValue,
} from '../../pages/items/model/draft.js'
import { itemOf } from '../../pages/items/model/item.js'
import {
  begin,
  cellDraft,
  copyOf,
  draftOf,
  newDraft,
  reduce,
  type Session,
  type SessionEvent,
} from '../../pages/items/state/session.js'
import { layOut } from '../../pages/shared/json-layout.js'
import { jsonObject } from '../support/json-text.js'

const version = (n: number, id = 'a') => itemOf(`{"id":"${id}","v":${n}}`)
const [one, two, other] = [version(1), version(2), version(1, 'b')]

describe('a session', () => {
  const draft = draftOf(one)
  const { key } = draft
  const next = draftOf(other)
  const typed = { type: 'typed', text: '{"v":7}' } as const
  const save = { type: 'save', base: one } as const
  const failed = { type: 'failed', key, problem: 'a problem' } as const
  const listed = { type: 'listed', id: 'a', item: two } as const
  const gone = { type: 'deleted', ids: new Set(['a']) } as const
  const found = { type: 'found', key, id: 'a', text: two.text } as const
  const go = { type: 'go', to: next } as const
  const close = { type: 'go', to: 'close' } as const
  const saved = { type: 'saved', key, item: version(7) } as const
  const [stay, discard, adopt] = [{ type: 'stay' }, { type: 'discard' }, { type: 'adopt' }] as const
  const follow = { type: 'follow', to: next } as const
  const back = { type: 'typed', text: layOut(one.text) } as const
  const undone = { ...listed, item: one }
  const erased = { ...found, text: undefined }
  const lost = { ...failed, type: 'lost', text: '{"v":7}' } as const
  const stored = { ...listed, item: saved.item }
  const more = { ...typed, text: '{"v":8}' }
  const overwrite = { type: 'save', base: two } as const
  const create = { type: 'save', base: undefined } as const

  /** Events after a draft is opened, and their outcome: the state, the item's id and `v`, and whether a move waits. */
  const cases: [what: string, events: SessionEvent[], outcome: string][] = [
    ['an untouched draft closes at once', [close], 'closed'],
    ['an untouched draft gives way to the next item', [go], 'clean b1'],
    ['an untouched draft follows its item', [listed], 'clean a2'],
    ['an untouched draft follows the active row', [follow], 'clean b1'],
    ['an untouched draft closes when the user deletes its item', [gone], 'closed'],
    ['typed text stays when the active row changes', [typed, follow], 'dirty a7'],
    ['typed text asks before it is left', [typed, go], 'dirty a7 pending'],
    ['the user stays', [typed, go, stay], 'dirty a7'],
    ['the user leaves', [typed, go, discard], 'clean b1'],
    ['text typed back to the start is no change', [typed, back, go], 'clean b1'],
    ['text stays when the user deletes its item', [typed, gone, go], 'conflict a7 pending'],
    ['text stays when its item changes', [typed, listed], 'conflict a7'],
    ['a change that is undone is no conflict', [typed, listed, undone], 'dirty a7'],
    ['the other version is edited instead', [typed, listed, adopt], 'clean a2'],
    ['a saved draft closes', [typed, save, saved], 'closed'],
    ['a saved draft makes the pending move', [typed, save, go, saved], 'clean b1'],
    ['a failed save keeps text and place', [typed, save, close, failed], 'failed a7'],
    ['text typed while saving stays', [save, typed, close, saved], 'dirty a7 pending'],
    ['text typed back while saving asks', [typed, save, back, saved, close], 'dirty a1 pending'],
    ['the saved text is no change', [typed, save, back, saved, typed, go], 'clean b1'],
    ['text typed back after a failure is no change', [typed, save, failed, back, go], 'clean b1'],
    ['text whose save may have succeeded asks', [typed, save, lost, back, go], 'failed a1 pending'],
    ['text whose save has succeeded is no conflict', [typed, save, lost, stored, go], 'clean b1'],
    ['text typed after it stays', [typed, save, stored, lost, more, go], 'dirty a8 pending'],
    ['a failed overwrite asks', [typed, listed, overwrite, back, failed, go], 'failed a1 pending'],
    ['a failed create asks', [typed, gone, create, failed, back, go], 'failed undefined1 pending'],
    ['a second save waits for the first', [typed, save, save, saved], 'closed'],
    ['a save finds another version', [typed, save, go, found], 'conflict a7'],
    ['a save finds the item deleted', [typed, save, erased], 'conflict a7'],
    ['a list that comes while saving waits', [typed, save, listed, failed], 'conflict a7'],
    ['a running save is not discarded', [typed, save, close, discard], 'saving a7 pending'],
    ['an earlier draft has no effect', [typed, go, discard, failed, saved], 'clean b1'],
  ]
  for (const [what, events, outcome] of cases) {
    test(what, () => {
      const end = events.reduce<Session | undefined>(reduce, begin(draft))
      const value = end && /"v":\s*(\d)/.exec(end.typed)?.[1]
      const words = end
        ? [end.state, `${end.item?.id}${value}`, end.pending && 'pending']
        : ['closed']
      assert.equal(words.filter(Boolean).join(' '), outcome)
    })
  }

  test('no events lose typed text, except the answer to a question and a successful save', () => {
    const events = fc.constantFrom(save, failed, listed, gone, found, go, close, stay)
    fc.assert(
      fc.property(fc.array(events), (events) => {
        const end = [typed, ...events].reduce<Session | undefined>(reduce, begin(draft))
        assert.equal(end?.typed, typed.text)
      }),
    )
  })

  test('a copy is kept even if nothing is typed, a new item is not', () => {
    assert.equal(reduce(begin(copyOf(one.text)), close)?.pending, 'close')
    assert.equal(reduce(begin(newDraft('{}')), close), undefined)
    assert.equal(begin(copyOf(one.text))?.typed.includes('"id"'), false)
  })

  test('a cell has the text of its value, follows it, and conflicts only with its changes', () => {
    const item = itemOf('{"id":"a","s":"\\u0061\\"","n":1.0}')
    assert.equal(begin(cellDraft(item, 's'))?.typed, 'a"')
    const now = reduce(begin(cellDraft(item, 'n')), {
      ...listed,
      item: itemOf('{"id":"a","n":2.0}'),
    })
    assert.deepEqual([now?.typed, now?.state], ['2.0', 'clean'])
    for (const [other, outcome] of [
      ['{"id":"a","n":1.0,"at":2}', 'dirty'],
      ['{"id":"a","n":1,"at":2}', 'conflict'],
    ] as const) {
      const cell = cellDraft(item, 'n')
      const edited = reduce(begin(cell), { type: 'typed', text: '7' })
      const saving = reduce(edited, { type: 'save', base: item })
      for (const now of [
        reduce(edited, { ...listed, item: itemOf(other) }),
        reduce(saving, { ...found, key: cell.key, text: other }),
      ]) {
        assert.deepEqual([now?.typed, now?.state, now?.stored?.text], ['7', outcome, other])
        assert.equal(now?.item?.text, outcome === 'dirty' ? other : item.text)
      }
    }
  })
})

describe('white space', () => {
  interface Edit {
    readonly from: number
    readonly to: number
    readonly insert: string
  }

  /** Applies a user's edits. Returns the text in the editor, and the text to save. */
  function edited(source: string, edits: readonly Edit[]) {
    const shown = formattedDraft(source)
    const changes = ChangeSet.of(edits, shown.length, '\n')
    const typed = changes.apply(Text.of(shown.split('\n')))
    return { typed: typed.sliceString(0), saved: withSpaceOf(source, typed, changes) }
  }

  test('that the user has not touched is saved as it was stored', () => {
    const source = ' {"a" :1,\t"b":[1,2 , {}], "s":"x : y" }\n'
    const shown = formattedDraft(source)
    const cases: [edits: Record<string, string>, saved: string][] = [
      [{}, source],
      [{ x: 'xyz' }, ' {"a" :1,\t"b":[1,2 , {}], "s":"xyz : y" }\n'],
      [{ 1: '17' }, ' {"a" :17,\t"b":[1,2 , {}], "s":"x : y" }\n'],
      [{ '{}': '{"c": 1}' }, ' {"a" :1,\t"b":[1,2 , {"c": 1}], "s":"x : y" }\n'],
      [{ ': 1': ':   1' }, ' {"a":   1,\t"b":[1,2 , {}], "s":"x : y" }\n'],
      [{ '\n  "b"': '\n  "b"' }, ' {"a" :1,\t"b":[1,2 , {}], "s":"x : y" }\n'],
      [{ '"b"': ' "B"' }, ' {"a" :1,\t "B":[1,2 , {}], "s":"x : y" }\n'],
      // Space that has become part of a string: the text is saved as typed.
      [{ '"a"': '"k":"a', ',': '",' }, shown.replace('"a"', '"k":"a').replace(',', '",')],
    ]
    for (const [edits, expected] of cases) {
      const places = Object.entries(edits).map(([old, insert]) => {
        const from = shown.indexOf(old)
        return { from, to: from + old.length, insert }
      })
      assert.equal(edited(source, places).saved, expected)
    }
  })

  test('never changes the tokens that the user has typed', () => {
    const piece = fc.string({ unit: fc.constantFrom(...'{}[],:"\\ \n1atrue'), maxLength: 4 })
    fc.assert(
      fc.property(jsonObject, fc.nat(), fc.nat(8), piece, (source, at, length, text) => {
        const { length: end } = formattedDraft(source)
        const from = at % (end + 1)
        const edit = { from, to: Math.min(end, from + length), insert: text }
        const { typed, saved } = edited(source, [edit])
        if (!whyInvalid(typed)) assert.equal(layOut(saved), layOut(typed))
      }),
      { numRuns: 500 },
    )
  })

  test('of any length takes linear time', () => {
    const blanks = ' '.repeat(80_000)
    const text = `{"a":1,${blanks}"b":"${blanks}","c":[${'1,'.repeat(40_000)}1]${blanks}}`
    const start = performance.now()
    assert.ok(isSameItem(text, text.replace('{', `{${blanks}`)))
    assert.deepEqual(checkDraft(text), [])
    assert.ok(edited(text, [{ from: 8, to: 9, insert: blanks }]).saved.length > text.length)
    assert.ok(performance.now() - start < 10_000)
  })
})

test('a value is added to an item that no longer has the member', () => {
  assert.equal(withValue('{"id":"a" }', 'b "', '1.0').text, '{"id":"a","b \\"":1.0 }')
})
