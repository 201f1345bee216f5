import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import { newItemId } from '../../item/id.js'
import { joined } from './bucket.js'
import type { BucketStates } from './bucket-states.js'
import { createProjectReads } from './projects.js'

const texts = ['a', 'b', 'a', 'c'].map((project) => {
  const id = newItemId()
  return [id, Buffer.from(`{"id":"${id}","project_id":"${project}"}`)] as const
})

function versionsOf(items: typeof texts, watched: string[] = []) {
  const state = { key: 'bucket', field: null, bytes: 1, version: '1' }
  const states = { all: async () => ({ states: [state], version: '1' }) } as unknown as BucketStates // only `all` is used
  const counts = { reads: 0 }
  const readTexts = async (buckets: readonly unknown[]) => {
    counts.reads += buckets.length
    return buckets.map(() => joined(new Map(items)))
  }
  const readWith = createProjectReads(states, readTexts, () => watched)
  return { counts, versionOf: async (project: string) => (await readWith(project)).version }
}

test('the version of a project depends on its items, but not on their order', async () => {
  const [one, other] = [versionsOf(texts), versionsOf(texts.toReversed())]
  const versions = await Promise.all(['a', 'b', 'c', 'none'].map(one.versionOf))
  assert.deepEqual(await Promise.all(['a', 'b', 'c', 'none'].map(other.versionOf)), versions)
  assert.equal(new Set(versions).size, 4)
  assert.notEqual(await versionsOf(texts.slice(1)).versionOf('a'), versions[0])
})

test('the version of a project changes with its items even if the XOR of their digests does not', async () => {
  const digestOf = (text: Buffer) => BigInt(`0x${hash('sha1', text)}`)
  const changes = Array.from({ length: 161 }, (_, n) => {
    const id = newItemId()
    const text = (value: number) => Buffer.from(`{"id":"${id}","project_id":"a","n":${value}}`)
    const [before, after] = [text(0), text(1)]
    return { id, before, after, xor: digestOf(before) ^ digestOf(after), made: 1n << BigInt(n) }
  })
  // Gaussian elimination finds changes whose XOR is 0, because 161 values of 160 bits are not independent.
  const reduced: { xor: bigint; made: bigint }[] = []
  let made = 0n
  for (const change of changes) {
    const sum = { ...change }
    for (const each of reduced) {
      if ((sum.xor ^ each.xor) >= sum.xor) continue
      sum.xor ^= each.xor
      sum.made ^= each.made
    }
    if (sum.xor === 0n) made = sum.made
    else reduced.push(sum)
  }
  const before = changes.map(({ id, before }) => [id, before] as const)
  const after = changes.map((one) => [one.id, one.made & made ? one.after : one.before] as const)
  const xorOf = (items: typeof texts) => items.reduce((sum, [, text]) => sum ^ digestOf(text), 0n)
  assert.equal(xorOf(after), xorOf(before))
  assert.notEqual(await versionsOf(after).versionOf('a'), await versionsOf(before).versionOf('a'))
})

test('one search finds the versions of all requested and all watched projects', async () => {
  const { counts, versionOf } = versionsOf(texts, ['b'])
  await Promise.all([versionOf('a'), versionOf('c')])
  await versionOf('b')
  assert.equal(counts.reads, 1)
})
