/** The check of histories is right itself, compared with trying out every order. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Event, isLinearizable, type Operation, type Value } from './register.js'

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
    kind: fc.constantFrom('read', 'read', 'replace', 'exchange', 'delete', 'create'),
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
        : kind === 'exchange'
          ? // Of the value that it has, or mostly has not.
            { kind, expected: n % 2 === 0 ? (value ?? n - 1) : n - 1, value: n }
          : { kind: kind === 'create' ? 'create' : 'replace', value: n }
    const isOther =
      operation.kind === 'exchange' && value !== undefined && value !== operation.expected
    const isDone = kind === 'create' ? value === undefined : value !== undefined
    const read = value
    if (isDone && !isOther && kind !== 'read' && (!isUnknown || hasHappened)) {
      value = 'value' in operation ? operation.value : undefined
    }
    const outcome = isOther
      ? ({ kind: 'mismatch' } as const)
      : kind === 'read'
        ? ({ kind, value: read } as const)
        : ({ kind: 'change', isDone } as const)
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
              : {
                  kind: 'change' as const,
                  isDone: !('isDone' in old.outcome && old.outcome.isDone),
                }
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
    if (operation.kind === 'exchange' && value !== undefined && value !== operation.expected) {
      return outcome === undefined || outcome.kind === 'mismatch'
    }
    const isDone = (operation.kind === 'create') === (value === undefined)
    if (isDone) value = operation.kind === 'delete' ? undefined : operation.value
    return outcome === undefined || (outcome.kind === 'change' && outcome.isDone === isDone)
  })
}
