/** Which server counts as the primary when sentinels disagree. */

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
  { title: 'all agree', answers: [up('a', 1), up('a', 1), up('a', 1)], expected: up('a', 1) },
  {
    title: 'one knows of a failover first',
    answers: [up('a', 1), up('b', 2), up('a', 1)],
    expected: up('b', 2),
  },
  {
    title: 'one was away during a failover',
    answers: [up('a', 1), up('b', 2), up('b', 2)],
    expected: up('b', 2),
  },
  {
    title: 'they disagree on the address, not on the epoch: most of them count',
    answers: [up('a', 0), up('b', 0), up('b', 0)],
    before: 'a',
    expected: up('b', 0),
  },
  {
    title: 'as many name the one before',
    answers: [up('b', 0), up('a', 0)],
    before: 'a',
    expected: up('a', 0),
  },
  { title: 'a minority answers', answers: [up('a', 1)], known: 1, expected: up('a', 1) },
  { title: 'a minority knows more', answers: [up('b', 2)], known: 1, expected: up('b', 2) },
  { title: 'a minority knows less', answers: [up('a', 1)], known: 2, expected: undefined },
  {
    title: 'a majority has been set up again',
    answers: [up('b', 0), up('b', 0)],
    known: 2,
    expected: up('b', 0),
  },
  { title: 'none answers', answers: [], expected: undefined },
  {
    title: 'one of three cannot reach it',
    answers: [up('a', 1), down('a', 1), up('a', 1)],
    expected: up('a', 1),
  },
  {
    title: 'two of three cannot reach it',
    answers: [up('a', 1), down('a', 1), down('a', 1)],
    expected: down('a', 1),
  },
  {
    title: 'the only one that answers cannot reach it',
    answers: [down('a', 1)],
    expected: up('a', 1),
  },
  {
    title: 'the only one that there is cannot reach it',
    answers: [down('a', 1)],
    count: 1,
    expected: down('a', 1),
  },
  {
    title: 'they cannot reach the former one, and one knows the new one',
    answers: [down('a', 1), down('a', 1), up('b', 2)],
    expected: up('b', 2),
  },
  {
    title: 'one has begun to replace it',
    answers: [up('a', 1), retiring('a', 1), up('a', 1)],
    expected: retiring('a', 1),
  },
]
for (const { title, answers, count = 3, known = 0, before, expected } of cases) {
  test(`${title}: ${expected ? `${expected.address}, ${expected.state}` : 'none'}`, () =>
    assert.deepEqual(primaryIn(answers, count, known, before), expected))
}
