import assert from 'node:assert/strict'
import { setMaxListeners } from 'node:events'
import { test } from 'node:test'
import { delayed } from './delayed.js'
import { createMemoryStore } from './memory/store.js'

test('once stopping begins, pending delays end and no more begin', {
  timeout: 20_000,
}, async () => {
  const stopping = new AbortController()
  setMaxListeners(0, stopping.signal)
  const minute = { min: 60_000, max: 60_000 }
  const store = delayed(createMemoryStore(1_000_000), minute, stopping.signal)
  let listed = 0
  const lists = Array.from({ length: 20 }, async () => {
    const list = await store.list()
    list.release()
    listed += 1
  })
  await new Promise(setImmediate)
  assert.equal(listed, 0)
  stopping.abort()
  await Promise.all(lists)
  const after = await store.list()
  after.release()
  assert.equal(listed, 20)
})
