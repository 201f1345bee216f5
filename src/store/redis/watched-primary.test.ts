/** Tests which server is used as the primary when sentinels disagree. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Answer } from './sentinel.js'
import { primaryIn } from './watched-primary.js'

/** Parses sentinels' answers, such as `a 1, b 2 down`: address, epoch and state, by default `up`. */
function answersIn(text: string): Answer[] {
  return [...text.matchAll(/(\w+) (\d+)(?: (down|retiring))?/g)].map(
    ([, address = '', epoch, state = 'up']) => ({ address, epoch: Number(epoch), state }) as Answer, // the pattern allows no other states
  )
}

type Options = { count?: number; known?: number; before?: string }
const cases: [title: string, answers: string, primary: string, options?: Options][] = [
  ['sentinels agree', 'a 1, a 1, a 1', 'a 1'],
  ['one sentinel knows of a failover before the others', 'a 1, b 2, a 1', 'b 2'],
  ['one sentinel has missed a failover', 'a 1, b 2, b 2', 'b 2'],
  ['in the same epoch, two sentinels outvote one', 'a 0, b 0, b 0', 'b 0', { before: 'a' }],
  ['in a tie, the former primary counts', 'b 0, a 0', 'a 0', { before: 'a' }],
  ['only a minority answers', 'a 1', 'a 1', { known: 1 }],
  ['a minority has a newer epoch', 'b 2', 'b 2', { known: 1 }],
  ['a minority has an older epoch', 'a 1', '', { known: 2 }],
  ['a majority has an older epoch, as after a new setup', 'b 0, b 0', 'b 0', { known: 2 }],
  ['no sentinel answers', '', ''],
  ['one of three sentinels cannot reach the primary', 'a 1, a 1 down, a 1', 'a 1'],
  ['two of three sentinels cannot reach the primary', 'a 1, a 1 down, a 1 down', 'a 1 down'],
  ['the only one of three that answers cannot reach the primary', 'a 1 down', 'a 1'],
  ['the only sentinel cannot reach the primary', 'a 1 down', 'a 1 down', { count: 1 }],
  ['two cannot reach the former primary, and one names another', 'a 1 down, a 1 down, b 2', 'b 2'],
  ['one sentinel has begun a failover', 'a 1, a 1 retiring, a 1', 'a 1 retiring'],
]
for (const [title, answers, expected, { count = 3, known = 0, before } = {}] of cases) {
  test(`${title}: the primary is ${expected || 'unknown'}`, () => {
    const [primary] = answersIn(expected)
    assert.deepEqual(primaryIn(answersIn(answers), count, known, before), primary)
  })
}
