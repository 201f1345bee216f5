import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { collectGarbage } from '../../test/support/garbage.js'
import type { ItemStore } from '../store/item-store.js'
import type { Exchange } from './exchange.js'
import { createWaitingReads } from './waiting-reads.js'

test('a waiting read does not keep the item that it has read in memory', async () => {
  const store = { watch: () => () => {} } as object as ItemStore // a store in which nothing changes
  const reads = createWaitingReads(store)
  const held: WeakRef<object>[] = []
  const read = async () => {
    const state = { tag: '"1"', bodyBytes: 100, item: Buffer.alloc(100) } as const
    held.push(new WeakRef(state))
    return state
  }
  const request = { headers: { prefer: 'wait=60' }, socket: new EventEmitter(), resume() {} }
  const response = new EventEmitter()
  const connection = { bufferedBytes: 0 }
  const exchange = { connection, request, response, startedAt: 0 } as object as Exchange // a wait uses only these fields
  const conditions = { ifMatch: undefined, ifNoneMatch: ['"1"'] } as const
  const answer = reads.of(read, (project) => ({ project }))(exchange, conditions, undefined)
  for (let turn = 0; turn < 10; turn += 1) await nextTurn()
  assert.deepEqual([reads.limit.value(), held.length], [1, 1])
  collectGarbage()
  assert.equal(held[0]?.deref(), undefined)
  reads.stop()
  assert.deepEqual((await answer)?.modified, undefined)
})
