import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BufferedBytes } from './buffered-bytes.js'

function holdersOf(all: BufferedBytes, ...sizes: number[]) {
  return sizes.map((bytes) => {
    const holder = {
      bufferedBytes: 0,
      isGivenUp: false,
      buffer(bytes: number) {
        const before = holder.bufferedBytes
        holder.bufferedBytes = bytes
        all.changed(holder, before)
      },
      giveUp() {
        holder.isGivenUp = true
        holder.buffer(0)
      },
    }
    holder.buffer(bytes)
    return holder
  })
}

function givenUp(holders: ReturnType<typeof holdersOf>): number[] {
  return holders.flatMap(({ isGivenUp }, index) => (isGivenUp ? [index] : []))
}

test('only beyond the limit, the connection with the most bytes is closed, even if another made the total exceed it', () => {
  assert.deepEqual(givenUp(holdersOf(new BufferedBytes(100), 10, 60, 30)), [])
  assert.deepEqual(givenUp(holdersOf(new BufferedBytes(100), 10, 60, 30, 1)), [1])
})

test('as many connections as necessary are closed before the call returns', () => {
  const all = new BufferedBytes(100)
  const crowd = holdersOf(all, 30, 30, 30)
  const [greedy] = holdersOf(all, 31)
  greedy?.buffer(100) // the total now exceeds the limit, and the connection with the most bytes is closed
  assert.deepEqual([givenUp(crowd), greedy?.isGivenUp], [[0], true])
  holdersOf(all, 25, 25, 25, 25)
  assert.deepEqual(givenUp(crowd), [0, 1, 2])
})

test('connections that were closed, and bytes that a connection no longer buffers, do not count', () => {
  const all = new BufferedBytes(100)
  const [first, second] = holdersOf(all, 90, 5)
  assert.ok(first && second)
  first.buffer(1)
  second.buffer(98)
  assert.deepEqual(givenUp([first, second]), [])
  second.giveUp()
  assert.deepEqual(givenUp(holdersOf(all, 49, 50)), [])
})
