import '../../test/support/standing-time.js'
import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { mock, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { collectGarbage } from '../../test/support/garbage.js'
import type { ItemStore } from '../store/item-store.js'
import type { Exchange } from './exchange.js'
import { createWaitingReads } from './waiting-reads.js'

type State = { tag: `"${string}"`; bodyBytes: number; item?: Buffer }

/** Begins to wait for a list with the tag `"1"`. */
async function waitWith(read: () => Promise<State>) {
  let changed = () => {}
  const watch = (_: unknown, callback: () => void) => {
    changed = callback
    return () => {}
  }
  const reads = createWaitingReads({ watch } as object as ItemStore) // a wait uses only this method
  const request = { headers: { prefer: 'wait=60' }, socket: new EventEmitter(), resume() {} }
  const response = new EventEmitter()
  const connection = { bufferedBytes: 0 }
  const exchange = { connection, request, response, startedAt: 0 } as object as Exchange // a wait uses only these fields
  const conditions = { ifMatch: undefined, ifNoneMatch: ['"1"'] } as const
  const answer = reads.of(read, (project) => ({ project }))(exchange, conditions, undefined)
  await turns()
  return { reads, answer, change: () => changed() }
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await nextTurn()
}

test('a waiting read does not keep the item that it has read in memory', async () => {
  const held: WeakRef<object>[] = []
  const { reads, answer } = await waitWith(async () => {
    const state: State = { tag: '"1"', bodyBytes: 100, item: Buffer.alloc(100) }
    held.push(new WeakRef(state))
    return state
  })
  assert.deepEqual([reads.limit.value(), held.length], [1, 1])
  collectGarbage()
  assert.equal(held[0]?.deref(), undefined)
  reads.stop()
  assert.deepEqual((await answer)?.modified, undefined)
})

test('while a list cannot be read, it is read again every 500 ms, however often it has changed', async () => {
  let [count, tag]: [number, State['tag'] | undefined] = [0, '"1"']
  const { answer, change } = await waitWith(async () => {
    count += 1
    return { tag: tag ?? assert.fail(), bodyBytes: 0 }
  })
  tag = undefined
  const pass = async (onStep = () => {}) => {
    for (let step = 0; step < 10; step += 1) {
      onStep()
      await turns()
      mock.timers.tick(100)
    }
  }
  await pass(change)
  await turns()
  const before = count
  await pass()
  await turns()
  assert.ok(count - before <= 3, `${count - before} reads within a second`)
  tag = '"2"'
  await pass()
  assert.equal((await answer)?.tag, '"2"')
})

test('a wait that ends while a change cannot be read fails, because a 304 might be wrong', async () => {
  let failure: Error | undefined
  const { answer, change } = await waitWith(async () => {
    if (failure) throw failure
    return { tag: '"1"', bodyBytes: 0 }
  })
  failure = new Error('planted')
  change()
  await turns()
  mock.timers.tick(60_000)
  await assert.rejects(answer, failure)
})
