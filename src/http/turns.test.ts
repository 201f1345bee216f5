import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createPortions, isPortionOver } from './turns.js'

/** How many of so many responses begin in each turn of the event loop. */
async function portions(count: number, bodyBytes: number): Promise<number[]> {
  const beginLater = createPortions()
  const begun: number[] = []
  let turn = 0
  for (let number = 0; number < count; number += 1) {
    beginLater(() => {
      begun[turn] = (begun[turn] ?? 0) + 1
    }, bodyBytes)
  }
  for (; begun.reduce((sum, one) => sum + one, 0) < count; turn += 1) await nextTurn()
  return begun
}

test('responses to a crowd begin in portions', async () => {
  assert.deepEqual(await portions(100, 0), [32, 32, 32, 4])
})

test('of responses with long bodies, few begin in a turn', async () => {
  assert.deepEqual(await portions(3, 5_000_000), [1, 1, 1])
  assert.deepEqual(await portions(8, 300_000), [4, 4])
})

test('work for a crowd ends its turn after a while, and goes on in the next one', async () => {
  for (let turns = 0; turns < 3; ) {
    if (!isPortionOver()) continue
    await nextTurn()
    turns += 1
    assert.ok(!isPortionOver())
  }
})
