/** Tests that a change is made completely or not at all when any of its memory allocations fails. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Allocations } from '../../../test/support/allocations.js'
import { assertSound } from '../../../test/support/assert-sound.js'
import { randomNumbers } from '../../../test/support/random.js'
import { itemText, textOf } from '../../../test/support/store-behaviour.js'
import { type ItemId, namedItemId } from '../../item/id.js'
import { isOutOfMemory } from '../../memory/mapped.js'
import { type ItemList, type ItemStore, StoreError } from '../item-store.js'
import { Blocks } from './blocks.js'
import { createMemoryStore } from './store.js'

const cases = [
  { title: 'blocks of 64 KiB', steps: 800, blockBytes: 65_536, maxBlocks: 1e6, maxLength: 30_000 },
  { title: 'blocks of 1,000 bytes', steps: 2000, blockBytes: 1000, maxBlocks: 1e6, maxLength: 400 },
  { title: 'very short items', steps: 2000, blockBytes: 333, maxBlocks: 1e6, maxLength: 20 },
  { title: 'few blocks', steps: 2000, blockBytes: 1000, maxBlocks: 10, maxLength: 400 },
]
const kinds = ['create', 'create', 'replace', 'replace', 'delete', 'read', 'list', 'drain'] as const
const allocators = ['ArrayBuffer', 'Buffer.allocUnsafe', 'Int32Array']

describe('the store stays consistent when each allocation fails in turn', () => {
  for (const { title, steps, blockBytes, maxBlocks, maxLength } of cases) {
    test(title, async (context) => {
      const below = randomNumbers(7)
      const blocks = new Blocks({ blockBytes, maxBlocks })
      const store = createMemoryStore(1e9, blocks)
      const model = new Map<ItemId, string>()
      const open: { list: ItemList; expected: string }[] = []
      const allocations = new Allocations()
      context.after(() => allocations.restore())
      let refusals = 0

      for (let step = 0; step < steps; step += 1) {
        const ids = [...model.keys()]
        const isGrowing = ids.length < 2 || step % 300 < 180
        const kind = kinds[isGrowing ? below(8) : 2 + below(6)] ?? 'read'
        const known = kind === 'create' ? undefined : ids[below(ids.length)]
        const id = known ?? namedItemId('', String(step))
        const length = below(below(10) === 0 ? 3 * maxLength : maxLength)
        const item = itemText(id, length, String(step % 10))
        const one = open[below(open.length + 1)]
        // Reads the list before allocations fail, so that `act` only has to release it.
        if (kind === 'drain' && one) assert.equal(await textOf(one.list), one.expected)

        const act = async (): Promise<void> => {
          if (kind === 'create') await store.create(id, item)
          if (kind === 'replace')
            assert.equal(await store.replace(id, item), model.has(id) ? 'done' : 'absent')
          if (kind === 'delete')
            assert.equal(await store.delete(id), model.has(id) ? 'done' : 'absent')
          if (kind === 'read') assert.equal((await store.read(id))?.toString(), model.get(id))
          if (kind === 'drain') one?.list.release()
          if (kind === 'list' && open.length < 4) {
            open.push({ list: await store.list(), expected: [...model.values()].join(',') })
          }
        }
        for (let number = 0; ; number += 1) {
          const { failed, thrown } = await allocations.failing(number, act)
          if (thrown === undefined) {
            if (kind === 'create' || (kind === 'replace' && model.has(id)))
              model.set(id, String(item))
            if (kind === 'delete') model.delete(id)
            if (kind === 'drain' && one) open.splice(open.indexOf(one), 1)
          } else {
            if (thrown instanceof StoreError && thrown.code === 'STORE_FULL') refusals += 1
            else assert.ok(isOutOfMemory(thrown), String(thrown))
          }
          if (failed || thrown !== undefined || step % 10 === 0) {
            assertSound(blocks)
            await assertContent(store, model)
          }
          if (!failed || thrown === undefined) break
        }
      }
      for (const { list, expected } of open) assert.equal(await textOf(list), expected)
      assertSound(blocks)
      for (const name of allocators)
        assert.ok(allocations.failures.has(name), `${name} never failed`)
      assert.equal(refusals > 0, maxBlocks < 1000, `${refusals} refused, as no blocks were left`)
    })
  }
})

async function assertContent(store: ItemStore, model: Map<ItemId, string>): Promise<void> {
  const texts = [...model.values()]
  for (const [id, text] of model) assert.equal((await store.read(id))?.toString(), text)
  assert.equal(await textOf(await store.list()), texts.join(','))
  const { items, itemBytes } = await store.size()
  assert.equal(items, model.size)
  assert.equal(itemBytes, Buffer.byteLength(texts.join('')))
}
