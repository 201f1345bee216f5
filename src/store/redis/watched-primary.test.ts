/** Tests which server is used as the primary when sentinels disagree. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Answer } from './sentinel.js'
import { primaryIn } from './watched-primary.js'

const up = (address: string, epoch: number): Answer => ({ address, epoch, state: 'up' })
const down = (address: string, epoch: number): Answer => ({ address, epoch, state: 'down' })
const retiring = (address: string, epoch: number): Answer => ({ address, epoch, state: 'retiring' })

const cases: {
  title: string
  answers: Answer[]
  count?: number
  known?: number
  before?: string
  expected: Answer | undefined
}[] = [
  { title: 'sentinels agree', answers: [up('a', 1), up('a', 1), up('a', 1)], expected: up('a', 1) },
  {
    title: 'one sentinel knows of a failover before the others',
    answers: [up('a', 1), up('b', 2), up('a', 1)],
    expected: up('b', 2),
  },
  {
    title: 'one sentinel has missed a failover',
    answers: [up('a', 1), up('b', 2), up('b', 2)],
    expected: up('b', 2),
  },
  {
    title: 'in the same epoch, two sentinels outvote one',
    answers: [up('a', 0), up('b', 0), up('b', 0)],
    before: 'a',
    expected: up('b', 0),
  },
  {
    title: 'in a tie, the former primary counts',
    answers: [up('b', 0), up('a', 0)],
    before: 'a',
    expected: up('a', 0),
  },
  { title: 'only a minority answers', answers: [up('a', 1)], known: 1, expected: up('a', 1) },
  { title: 'a minority has a newer epoch', answers: [up('b', 2)], known: 1, expected: up('b', 2) },
  { title: 'a minority has an older epoch', answers: [up('a', 1)], known: 2, expected: undefined },
  {
    title: 'a majority has an older epoch, because the sentinels were set up again',
    answers: [up('b', 0), up('b', 0)],
    known: 2,
    expected: up('b', 0),
  },
  { title: 'no sentinel answers', answers: [], expected: undefined },
  {
    title: 'one of three sentinels cannot reach the primary',
    answers: [up('a', 1), down('a', 1), up('a', 1)],
    expected: up('a', 1),
  },
  {
    title: 'two of three sentinels cannot reach the primary',
    answers: [up('a', 1), down('a', 1), down('a', 1)],
    expected: down('a', 1),
  },
  {
    title: 'the only one of three sentinels that answers cannot reach the primary',
    answers: [down('a', 1)],
    expected: up('a', 1),
  },
  {
    title: 'the only sentinel cannot reach the primary',
    answers: [down('a', 1)],
    count: 1,
    expected: down('a', 1),
  },
  {
    title: 'two sentinels cannot reach the former primary, and one names the new primary',
    answers: [down('a', 1), down('a', 1), up('b', 2)],
    expected: up('b', 2),
  },
  {
    title: 'one sentinel has begun a failover',
    answers: [up('a', 1), retiring('a', 1), up('a', 1)],
    expected: retiring('a', 1),
  },
]
for (const { title, answers, count = 3, known = 0, before, expected } of cases) {
  test(`${title}: the primary is ${expected ? `${expected.address}, ${expected.state}` : 'unknown'}`, () =>
    assert.deepEqual(primaryIn(answers, count, known, before), expected))
}
