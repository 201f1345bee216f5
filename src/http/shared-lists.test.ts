import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ReadMemory } from '../memory/read-memory.js'
import { readSharedList } from './shared-lists.js'

for (const [maxBytes, isShared] of [
  [6, true],
  [5, false],
] as const) {
  test(`a list of 6 bytes is ${isShared ? '' : 'not '}shared up to ${maxBytes} bytes, and the store can free its memory`, async () => {
    const chunks = ['ab', 'cd', 'ef'].map((text) => Buffer.from(text))
    const release = () => void chunks.map((chunk) => chunk.fill('x'))
    const memory = new ReadMemory()
    const list = async () => ({ version: '1', byteLength: undefined, memory, chunks, release })
    const shared = await readSharedList({ list }, maxBytes)
    assert.equal(String(chunks[0]), 'xx')
    assert.equal(shared && String(Object(shared.chunks)[0]), isShared ? 'abcdef' : undefined)
  })
}
