import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { ItemStore } from '../store/item-store.js'
import type { Exchange } from './exchange.js'
import { createWaitingReads } from './waiting-reads.js'

test('a read that waits does not hold what it has read', async () => {
  setFlagsFromString('--expose-gc')
  const collectGarbage: () => void = runInNewContext('gc')
  const stopping = new AbortController()
  const reads = createWaitingReads(
    { watch: () => () => {} } as object as ItemStore,
    stopping.signal,
  ) // nothing changes
  const held: WeakRef<object>[] = []
  const read = async () => {
    const state = { tag: '"1"', bodyBytes: 100, item: Buffer.alloc(100) } as const
    held.push(new WeakRef(state))
    return state
  }
  const request = { headers: { prefer: 'wait=60' }, socket: new EventEmitter(), resume() {} }
  const exchange = { request, response: new EventEmitter(), startedAt: 0 } as object as Exchange // what a wait uses
  const conditions = { ifMatch: undefined, ifNoneMatch: ['"1"'] } as const
  const answer = reads.of(read, (project) => ({ project }))(exchange, conditions, undefined)
  for (let turn = 0; turn < 10; turn += 1) await nextTurn()
  assert.deepEqual([reads.count, held.length], [1, 1])
  collectGarbage()
  assert.deepEqual(
    held.map((state) => state.deref()),
    [undefined],
  )
  stopping.abort()
  assert.deepEqual((await answer)?.modified, undefined)
})

test('changes during a read lead to one more read after it', async () => {
  let changed = () => {}
  const watch = (_of: object, callback: () => void) => {
    changed = callback
    return () => {}
  }
  const stopping = new AbortController()
  const reads = createWaitingReads({ watch } as object as ItemStore, stopping.signal)
  const begun: (() => void)[] = []
  const read = async () => {
    await new Promise<void>((end) => begun.push(end))
    return { tag: '"1"', bodyBytes: 100 } as const
  }
  const request = { headers: { prefer: 'wait=60' }, socket: new EventEmitter(), resume() {} }
  const exchange = { request, response: new EventEmitter(), startedAt: 0 } as object as Exchange // what a wait uses
  const conditions = { ifMatch: undefined, ifNoneMatch: ['"1"'] } as const
  const answer = reads.of(read, (project) => ({ project }))(exchange, conditions, undefined)
  const turns = async () => {
    for (let turn = 0; turn < 10; turn += 1) await nextTurn()
  }
  await turns()
  for (const reading of [1, 2]) {
    for (let change = 0; change < 3; change += 1) {
      changed()
      await turns()
    }
    assert.equal(begun.length, reading)
    begun[reading - 1]?.()
    await turns()
  }
  assert.equal(begun.length, 3)
  begun[2]?.()
  await turns()
  stopping.abort()
  await answer
  assert.equal(begun.length, 3)
})
