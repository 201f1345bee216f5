import assert from 'node:assert/strict'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Batch } from './batch.js'

test('a request that arrives late in a turn, after all other requests were handled, is handled too', async () => {
  const batch = new Batch(() => 64)
  await new Promise<void>((resolve) => {
    batch.handle(response(), () => {
      queueMicrotask(() => batch.handle(response(), resolve))
    })
  })
})

test('each turn handles at most the maximum number of requests, in the order of arrival', async () => {
  const batch = new Batch(() => 2)
  const turns: number[][] = []
  for (let place = 0; place < 5; place += 1) {
    batch.handle(response(), () => turns.at(-1)?.push(place))
  }
  while (turns.flat().length < 5) {
    turns.push([])
    await nextTurn()
  }
  assert.deepEqual(turns, [[0, 1], [2, 3], [4]])
})

test('a request that is handled at once is not handled again', async () => {
  const batch = new Batch(() => 64)
  const handled: string[] = []
  const urgent = response()
  batch.handle(response(), () => handled.push('first'))
  batch.handle(urgent, () => handled.push('urgent'))
  batch.handleNow(urgent)
  assert.deepEqual(handled, ['urgent'])
  await nextTurn()
  batch.handleNow(urgent)
  assert.deepEqual(handled, ['urgent', 'first'])
})

function response(): ServerResponse {
  return new ServerResponse(new IncomingMessage(new Socket()))
}
