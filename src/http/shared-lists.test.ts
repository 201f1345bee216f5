import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { ReadMemory } from '../memory/read-memory.js'
import type { ItemList } from '../store/item-store.js'

// Without timeouts, a list begins only when another list ends. The service keeps the timers that it finds when loaded.
mock.timers.enable({ apis: ['setTimeout'] })
const { createSharedLists } = await import('./shared-lists.js')

function storeOf(text: string) {
  const counts = { opened: 0, open: 0, most: 0 }
  const list = async (): Promise<ItemList> => {
    counts.opened += 1
    counts.open += 1
    counts.most = Math.max(counts.most, counts.open)
    let isOpen = true
    return {
      version: String(counts.opened),
      byteLength: undefined,
      memory: new ReadMemory(),
      chunks: [...text].map((letter) => Buffer.from(letter)),
      release() {
        if (isOpen) counts.open -= 1
        isOpen = false
      },
    }
  }
  return { counts, list }
}

async function textOf({ chunks, release }: ItemList): Promise<string> {
  let text = ''
  for await (const chunk of chunks) text += Buffer.from(chunk)
  release()
  return text
}

test('the bytes of shared lists are counted until the last response is sent', async () => {
  const store = storeOf('abc')
  const lists = createSharedLists(store, 5)
  const opened = async () => {
    const shared = lists.create()
    await shared.open()
    return shared
  }
  const first = await opened()
  const held = await first.list()
  first.close()
  assert.equal((await opened()).bodyBytes, 0)
  await textOf(held)
  assert.equal((await opened()).bodyBytes, 3)
})

test('lists that are too long to be shared are sent one after another, each of them completely', async () => {
  const store = storeOf('abc')
  const shared = createSharedLists(store, 2).create()
  await shared.open()
  const texts = Array.from({ length: 10 }, async () => {
    const list = await shared.list()
    await nextTurn()
    return textOf(list)
  })
  assert.deepEqual(await Promise.all(texts), Array(10).fill('abc'))
  assert.deepEqual(store.counts, { opened: 11, open: 0, most: 1 })
})
