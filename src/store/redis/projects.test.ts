import assert from 'node:assert/strict'
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

test('the version of a project changes even if the XOR of the digests of its items does not', async () => {
  const text = Buffer.from(`{"id":"${newItemId()}","project_id":"a"}`)
  const twice = [newItemId(), newItemId()].map((id) => [id, text] as const)
  assert.notEqual(await versionsOf(twice).versionOf('a'), await versionsOf([]).versionOf('a'))
})

test('one search finds the versions of all requested and all watched projects', async () => {
  const { counts, versionOf } = versionsOf(texts, ['b'])
  await Promise.all([versionOf('a'), versionOf('c')])
  await versionOf('b')
  assert.equal(counts.reads, 1)
})
