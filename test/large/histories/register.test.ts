/** The check of histories is right itself: on known cases, and compared with trying out every order. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Event, isLinearizable, type Operation, type Value } from './register.js'

/**
 * Events from lines such as `replace 2 | 3-5`: what was called at 3 and answered at 5. `read 1` has read 1,
 * and `read -` nothing; `!` marks what had nothing to replace or delete; no second number, an unknown outcome.
 */
function historyOf(...lines: string[]): Event[] {
  return lines.map((line) => {
    const [what = '', times = ''] = line.split(' | ')
    const [word = '', value = ''] = what.split(' ')
    const [called = '', answered = ''] = times.split('-')
    const kind = word.replace('!', '')
    const number = value === '-' ? undefined : Number(value)
    const operation: Operation =
      kind === 'read' || kind === 'delete'
        ? { kind }
        : { kind: kind === 'create' ? 'create' : 'replace', value: Number(value) }
    const outcome =
      kind === 'read'
        ? ({ kind: 'read', value: number } as const)
        : ({ kind: 'change', isDone: !word.includes('!') } as const)
    const isKnown = answered !== ''
    return {
      operation,
      outcome: isKnown ? outcome : undefined,
      called: Number(called),
      answered: isKnown ? Number(answered) : Number.POSITIVE_INFINITY,
    }
  })
}

const good = {
  nothing: [],
  'one after another': ['create 1 | 1-2', 'read 1 | 3-4', 'replace 2 | 5-6', 'read 2 | 7-8'],
  'nothing before the create': ['read - | 1-2', 'create 1 | 3-4', 'read 1 | 5-6'],
  'a read during a replace, before it': ['create 1 | 1-2', 'replace 2 | 3-6', 'read 1 | 4-5'],
  'a read during a replace, after it': ['create 1 | 1-2', 'replace 2 | 3-6', 'read 2 | 4-5'],
  'two replaces at a time, in either order': [
    ...['create 1 | 1-2', 'replace 2 | 3-6', 'replace 3 | 4-5', 'read 2 | 7-8'],
  ],
  'a delete, and what finds nothing': [
    ...['create 1 | 1-2', 'delete | 3-4', 'read - | 5-6', 'replace! 2 | 7-8', 'delete! | 9-10'],
  ],
  'a replace that came too late for the delete': [
    ...['create 1 | 1-2', 'delete | 3-6', 'replace! 2 | 4-5', 'read - | 7-8'],
  ],
  'an unknown replace that has happened': ['create 1 | 1-2', 'replace 2 | 3', 'read 2 | 5-6'],
  'an unknown replace that has not': ['create 1 | 1-2', 'replace 2 | 3', 'read 1 | 5-6'],
  'an unknown replace that happens later': [
    ...['create 1 | 1-2', 'replace 2 | 3', 'read 1 | 5-6', 'replace 3 | 7-8', 'read 2 | 9-10'],
  ],
  'an unknown delete that happens later': [
    ...['create 1 | 1-2', 'delete | 3', 'read 1 | 5-6', 'read - | 7-8'],
  ],
  'an unknown replace after a delete, which does nothing': [
    ...['create 1 | 1-2', 'replace 2 | 3', 'delete | 5-6', 'read - | 7-8'],
  ],
  'an unknown read': ['create 1 | 1-2', 'read 1 | 3'],
}

const bad = {
  'a stale read': ['create 1 | 1-2', 'replace 2 | 3-4', 'read 1 | 5-6'],
  'a lost update': ['create 1 | 1-2', 'replace 2 | 3-4', 'replace 3 | 5-6', 'read 2 | 7-8'],
  'a value that was never written': ['create 1 | 1-2', 'read 7 | 3-4'],
  'a value from the future': ['create 1 | 1-2', 'read 2 | 3-4', 'replace 2 | 5-6'],
  'a create that is not there': ['create 1 | 1-2', 'read - | 3-4'],
  'back after a delete': ['create 1 | 1-2', 'delete | 3-4', 'read 1 | 5-6'],
  'replaced after a delete': ['create 1 | 1-2', 'delete | 3-4', 'replace 2 | 5-6'],
  'deleted twice': ['create 1 | 1-2', 'delete | 3-6', 'delete | 4-5'],
  'created twice': ['create 1 | 1-2', 'create 2 | 3-4'],
  'seen, then no more': ['create 1 | 1-2', 'replace 2 | 3-10', 'read 2 | 4-5', 'read 1 | 6-7'],
  'two readers, two orders': [
    ...['create 1 | 1-2', 'replace 2 | 3-20', 'replace 3 | 4-21'],
    ...['read 2 | 5-6', 'read 3 | 7-8', 'read 2 | 9-10'],
  ],
  'nothing to replace where there is something': ['create 1 | 1-2', 'replace! 2 | 3-4'],
  'an unknown replace that has happened and then has not': [
    ...['create 1 | 1-2', 'replace 2 | 3', 'read 2 | 5-6', 'read 1 | 7-8'],
  ],
  'an unknown replace that happens twice': [
    ...['create 1 | 1-2', 'replace 2 | 3', 'read 2 | 5-6', 'replace 3 | 7-8', 'read 2 | 9-10'],
  ],
  'an unknown delete that is undone': [
    ...['create 1 | 1-2', 'delete | 3', 'read - | 5-6', 'read 1 | 7-8'],
  ],
  'an unknown replace that brings back what was deleted': [
    ...['create 1 | 1-2', 'delete | 3-4', 'replace 2 | 5', 'read 2 | 7-8'],
  ],
  'an unknown replace before its call': ['create 1 | 1-2', 'read 2 | 3-4', 'replace 2 | 5'],
}

for (const [title, lines] of Object.entries(good)) {
  test(`good: ${title}`, () => assert.equal(isLinearizable(historyOf(...lines)), true))
}
for (const [title, lines] of Object.entries(bad)) {
  test(`bad: ${title}`, () => assert.equal(isLinearizable(historyOf(...lines)), false))
}

/** An operation, and how long before and after its moment it is called and answered. */
interface Planned {
  readonly kind: string
  readonly before: number
  readonly after: number
  readonly isUnknown: boolean
  readonly hasHappened: boolean
}

const plan: fc.Arbitrary<Planned[]> = fc.array(
  fc.record({
    kind: fc.constantFrom('read', 'read', 'replace', 'delete', 'create'),
    before: fc.nat(400),
    after: fc.nat(400),
    isUnknown: fc.boolean(),
    hasHappened: fc.boolean(),
  }),
  { maxLength: 40 },
)

/** What is seen of a register that does the operations at their moments; each value is written once. */
function play(operations: readonly Planned[]): Event[] {
  let value: Value
  return operations.map(({ kind, before, after, isUnknown, hasHappened }, n) => {
    const operation: Operation =
      kind === 'read' || kind === 'delete'
        ? { kind }
        : { kind: kind === 'create' ? 'create' : 'replace', value: n }
    const isDone = kind === 'create' ? value === undefined : value !== undefined
    const read = value
    if (isDone && kind !== 'read' && (!isUnknown || hasHappened)) {
      value = 'value' in operation ? operation.value : undefined
    }
    const outcome =
      kind === 'read' ? ({ kind, value: read } as const) : ({ kind: 'change', isDone } as const)
    const moment = n * 100
    return {
      operation,
      outcome: isUnknown ? undefined : outcome,
      called: moment - before - n / 1000,
      answered: isUnknown ? Number.POSITIVE_INFINITY : moment + after + n / 1000 + 0.0001,
    }
  })
}

test('whatever a register does is accepted', () => {
  fc.assert(
    fc.property(plan, (operations) => {
      assert.equal(isLinearizable(play(operations)), true)
    }),
    { numRuns: 500 },
  )
})

test('the same as trying out every order, for histories in which answers may be wrong', () => {
  const verdicts = { true: 0, false: 0 }
  fc.assert(
    fc.property(
      fc.array(
        fc.record({
          event: fc.nat(5),
          read: fc.option(fc.nat(5), { nil: undefined }),
        }),
        { maxLength: 2 },
      ),
      plan.map((operations) => operations.slice(0, 6)),
      (changes, operations) => {
        const history = play(operations)
        for (const { event, read } of changes) {
          const old = history[event]
          if (old?.outcome === undefined) continue
          const outcome =
            old.outcome.kind === 'read'
              ? { ...old.outcome, value: read }
              : { ...old.outcome, isDone: !old.outcome.isDone }
          history[event] = { ...old, outcome }
        }
        const expected = hasOrder(history, [])
        verdicts[`${expected}`] += 1
        assert.equal(isLinearizable(history), expected)
      },
    ),
    { numRuns: 2000 },
  )
  assert.ok(verdicts.true > 100 && verdicts.false > 100, JSON.stringify(verdicts))
})

/** Whether some order of all that was answered, and of any of the rest, gives the answers. */
function hasOrder(rest: readonly Event[], done: readonly Event[]): boolean {
  if (rest.every(({ outcome }) => outcome === undefined) && isRight(done)) return true
  return rest.some((event) => {
    const others = rest.filter((other) => other !== event)
    if (others.some(({ answered }) => answered < event.called)) return false
    return hasOrder(others, [...done, event])
  })
}

/** Whether the answers are those of a register that does the operations in this order. */
function isRight(order: readonly Event[]): boolean {
  let value: Value
  return order.every(({ operation, outcome }) => {
    if (operation.kind === 'read') {
      return outcome === undefined || (outcome.kind === 'read' && outcome.value === value)
    }
    const isDone = (operation.kind === 'create') === (value === undefined)
    if (isDone) value = operation.kind === 'delete' ? undefined : operation.value
    return outcome === undefined || (outcome.kind === 'change' && outcome.isDone === isDone)
  })
}
