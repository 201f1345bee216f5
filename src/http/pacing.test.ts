import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { runInTurns, untilMaySend } from './pacing.js'

async function begunPerTurn(count: number, bodyBytes: number): Promise<number[]> {
  const begun: number[] = []
  let turn = 0
  for (let number = 0; number < count; number += 1) {
    void untilMaySend(bodyBytes).then(() => {
      begun[turn] = (begun[turn] ?? 0) + 1
    })
  }
  for (; begun.reduce((sum, one) => sum + (one ?? 0), 0) < count; turn += 1) await nextTurn()
  return begun
}

for (const [count, bodyBytes, most] of [
  [200, 0, 50],
  [3, 5_000_000, 1],
  [8, 300_000, 4],
] as const) {
  test(`at most ${most} of ${count} responses with ${bodyBytes} bytes begin in one turn`, async () => {
    const begun = await begunPerTurn(count, bodyBytes)
    assert.ok(begun.length > 1 && Math.max(...begun) <= most, begun.join())
  })
}

test('after a long piece of work, the next piece waits for another turn, and callers alternate', async () => {
  const done: string[] = []
  function* work(name: string) {
    for (let slice = 0; slice < 3; slice += 1) {
      for (const start = performance.now(); performance.now() - start < 2; );
      done.push(name)
      yield undefined
    }
    return name
  }
  const works = Promise.all([runInTurns(work('a')), runInTurns(work('b'))])
  for (let turns = 0; done.length < 6; turns += 1) {
    assert.ok(done.length <= turns, `${done} in ${turns} turns`)
    await nextTurn()
  }
  assert.deepEqual(await works, ['a', 'b'])
  assert.equal(done.join(''), 'ababab')
})
