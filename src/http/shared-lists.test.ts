import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ReadMemory } from '../memory/read-memory.js'
import type { ItemList } from '../store/item-store.js'
import { createSharedLists } from './shared-lists.js'

test('the bytes of shared lists are counted until the last response is sent, and a list above the limit is not shared', async () => {
  let open = 0
  const list = async (): Promise<ItemList> => {
    open += 1
    return {
      version: '1',
      byteLength: undefined,
      memory: new ReadMemory(),
      chunks: ['a', 'b', 'c'].map((letter) => Buffer.from(letter)),
      release() {
        open -= 1
      },
    }
  }
  const lists = createSharedLists({ list }, 5)
  const opened = async () => {
    const shared = lists.create()
    await shared.open()
    return shared
  }
  const first = await opened()
  const sent = await first.list()
  first.close()
  const second = await opened()
  assert.deepEqual([first.bodyBytes, second.bodyBytes, open], [3, 0, 0])
  assert.deepEqual([(await second.list()).byteLength, open], [undefined, 1])
  sent.release()
  assert.equal((await opened()).bodyBytes, 3)
})

for (const size of [1, 1024 * 1024]) {
  test(`a shared list of chunks of ${size} bytes stays readable although the store frees their memory`, async () => {
    const chunks = ['a', 'b'].map((letter) => Buffer.alloc(size, letter))
    const expected = Buffer.concat(chunks)
    const memory = new ReadMemory()
    const release = () => void chunks.map((chunk) => chunk.fill('x'))
    const list = async () => ({ version: '1', byteLength: undefined, memory, chunks, release })
    const shared = createSharedLists({ list }, expected.length).create()
    await shared.open()
    const read = await shared.list()
    const parts: Uint8Array[] = []
    for await (const part of read.chunks) parts.push(part)
    assert.ok(Buffer.concat(parts).equals(expected))
    shared.close()
    assert.equal(String(chunks[0]?.subarray(0, 1)), size > 1 ? 'a' : 'x') // freed once it isn't needed
    read.release()
    assert.equal(String(chunks[0]?.subarray(0, 1)), 'x')
  })
}
