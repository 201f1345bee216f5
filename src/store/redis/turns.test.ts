/** Turns on a connection: how much is on the way, in which order, and for how long one waits. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Reply } from './client.js'
import { BusyError } from './failures.js'
import { createTurns, type Turns } from './turns.js'

const megabyte = 1024 * 1024

/** Calls whose answers come when told to. */
function calls(turns: Turns) {
  const answers: ((reply: Reply) => void)[] = []
  let answered = 0

  /** Answers all that is under way. */
  async function answer(reply: Reply): Promise<void> {
    for (const resolve of answers.slice(answered)) resolve(reply)
    answered = answers.length
    await new Promise(setImmediate)
  }

  return {
    take: (bytes = 0) =>
      turns.take(bytes, () => new Promise<Reply>((resolve) => answers.push(resolve))),
    underWay: () => answers.length - answered,
    answer,
    async answerAll(): Promise<void> {
      while (answered < answers.length) await answer(1)
    },
  }
}

test('few are under way at first, 64 at most once answers are known to be short', async () => {
  const { take, underWay, answer, answerAll } = calls(createTurns(10_000))
  for (let n = 0; n < 1000; n += 1) void take()
  assert.equal(underWay(), 4)
  for (let round = 0; round < 10; round += 1) {
    await answer(1)
    assert.ok(underWay() <= 64, `${underWay()} under way`)
  }
  assert.equal(underWay(), 64)
  await answerAll()
})

test('after a long answer, only as many as may have such an answer, too', async () => {
  const { take, underWay, answer, answerAll } = calls(createTurns(10_000))
  for (let n = 0; n < 30; n += 1) void take()
  await answer([Buffer.alloc(8 * megabyte), Buffer.alloc(8 * megabyte)])
  assert.equal(underWay(), 2)
  await answerAll()
})

test('long commands take turns, in their order, and one that is too long for all goes alone', async () => {
  const order: number[] = []
  const turns = createTurns(10_000)
  const { take, underWay, answer } = calls(turns)
  for (const [place, megabytes] of [10, 10, 40, 1].entries()) {
    void take(megabytes * megabyte).then(() => order.push(place))
  }
  const seen: number[] = []
  while (underWay() > 0) {
    seen.push(underWay())
    await answer(null)
  }
  assert.deepEqual(seen, [1, 1, 1, 1])
  assert.deepEqual(order, [0, 1, 2, 3])
})

test('without a turn in time it is busy, and is not called later', async () => {
  const { take, underWay, answer } = calls(createTurns(20))
  const first = take(40 * megabyte)
  await assert.rejects(take(), BusyError)
  await answer(1)
  assert.equal(await first, 1)
  assert.equal(underWay(), 0)
})

test('a call that fails gives its turn to the next', async () => {
  const turns = createTurns(10_000)
  const failing = turns.take(40 * megabyte, () => Promise.reject(new Error('lost')))
  const next = turns.take(0, async () => 2)
  await assert.rejects(failing, /lost/)
  assert.equal(await next, 2)
})
