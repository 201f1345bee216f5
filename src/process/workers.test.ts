/** How fast workers are replaced. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nextPause } from './workers.js'

const cases = [
  { lives: [0, 0, 0, 0, 0, 0, 0], pauses: [1, 2, 4, 8, 16, 30, 30] },
  { lives: [59, 59, 59, 59, 59], pauses: [1, 2, 4, 8, 16] },
  { lives: [0, 0, 60, 0, 3600], pauses: [1, 2, 0, 1, 0] },
]

for (const { lives, pauses } of cases) {
  test(`workers that live for ${lives.join(', ')} s are replaced after ${pauses.join(', ')} s`, () => {
    let pause = 0
    const found = lives.map((lived) => {
      pause = nextPause(pause, lived * 1_000)
      return pause / 1_000
    })
    assert.deepEqual(found, pauses)
  })
}
