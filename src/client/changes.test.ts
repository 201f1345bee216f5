import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeChange } from './changes.js'
import { ItemStoreError } from './item-store-error.js'

const conflict = new ItemStoreError('changed', { code: 'PRECONDITION_FAILED' })
const limits = { retries: 3, timeout: 30_000 }

/** Waits for nothing. */
const pauses: number[] = []
const sleep = async (time: number) => void pauses.push(time)

/** Makes a change that meets a conflict so many times. */
async function withConflicts(count: number): Promise<{ result: string; writes: number }> {
  let writes = 0
  const read = async () => 'read'
  const make = async () => 'made'
  const write = async () => {
    writes += 1
    if (writes <= count) throw conflict
    return 'written'
  }
  const result = await makeChange(read, make, write, true, limits, sleep).catch(String)
  return { result, writes }
}

test('a change is begun again after each conflict, and given up after 100', async () => {
  assert.deepEqual(await withConflicts(99), { result: 'written', writes: 100 })
  assert.deepEqual(await withConflicts(100), { result: String(conflict), writes: 100 })
})

test('the pauses get longer up to half a second, and are random', async () => {
  pauses.length = 0
  for (let n = 0; n < 20; n += 1) await withConflicts(20)
  const first = pauses.filter((_, place) => place % 20 === 0)
  const last = pauses.filter((_, place) => place % 20 === 19)
  assert.ok(Math.max(...first) <= 40, String(first))
  assert.ok(Math.max(...last) > 250 && Math.max(...last) <= 500, String(last))
  assert.equal(new Set(pauses).size, pauses.length)
})
