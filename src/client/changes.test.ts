import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeChange, statesOf } from './changes.js'
import { ItemStoreError } from './item-store-error.js'

/** How long a watch pauses after each of these responses, or "long" for half of the longest delay or more. */
async function pausesAfter(heads: readonly Record<string, string>[]): Promise<string[]> {
  const kinds: string[] = []
  let reads = 0
  const read = async () => {
    const headers = heads[reads]
    reads += 1
    if (headers === undefined) throw new Error('no more responses')
    return [new Response(null, { headers })] as const
  }
  const note = async (time: number) => void kinds.push(time >= 2_500 ? 'long' : `${time} ms`)
  await assert.rejects(statesOf(read, 30_000, note).next(), { message: 'no more responses' })
  return kinds
}

test('a watch pauses for long after a response without news that came at once, else for 100 ms', async () => {
  const waited = { 'preference-applied': 'wait=20' }
  const heads = [
    { etag: '"1"' },
    { etag: '"1"', ...waited },
    { etag: '"1"', ...waited },
    { etag: '"1"' },
    { etag: '"2"' },
    { etag: '"3"', ...waited },
  ]
  const short = '100 ms'
  assert.deepEqual(await pausesAfter(heads), [short, short, short, 'long', short, short])
  assert.deepEqual(await pausesAfter([{}, {}]), [short, 'long']) // a service that sends no tag
})

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
