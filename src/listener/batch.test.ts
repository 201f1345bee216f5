import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Batch } from './batch.js'

test('a request that arrives late in a turn, after all other requests were handled, is handled too', async () => {
  const batch = new Batch(() => 64)
  await new Promise<void>((resolve) => {
    batch.handle(() => {
      queueMicrotask(() => batch.handle(resolve))
    })
  })
})

test('each turn handles at most the maximum number of requests, in the order of arrival', async () => {
  const batch = new Batch(() => 2)
  const turns: number[][] = []
  for (let place = 0; place < 5; place += 1) {
    batch.handle(() => turns.at(-1)?.push(place))
  }
  while (turns.flat().length < 5) {
    turns.push([])
    await nextTurn()
  }
  assert.deepEqual(turns, [[0, 1], [2, 3], [4]])
})
