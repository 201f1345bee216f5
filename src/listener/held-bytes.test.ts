import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HeldBytes } from './held-bytes.js'

function holdersOf(all: HeldBytes, ...sizes: number[]) {
  return sizes.map((bytes) => {
    const holder = {
      heldBytes: 0,
      isGivenUp: false,
      hold(bytes: number) {
        const before = holder.heldBytes
        holder.heldBytes = bytes
        all.changed(holder, before)
      },
      giveUp() {
        holder.isGivenUp = true
        holder.hold(0)
      },
    }
    holder.hold(bytes)
    return holder
  })
}

function givenUp(holders: ReturnType<typeof holdersOf>): number[] {
  return holders.flatMap(({ isGivenUp }, index) => (isGivenUp ? [index] : []))
}

test('only beyond the limit, the connection with the most bytes is closed, even if another made the total exceed it', () => {
  assert.deepEqual(givenUp(holdersOf(new HeldBytes(100), 10, 60, 30)), [])
  assert.deepEqual(givenUp(holdersOf(new HeldBytes(100), 10, 60, 30, 1)), [1])
})

test('as many connections as necessary are closed before the call returns', () => {
  const all = new HeldBytes(100)
  const crowd = holdersOf(all, 30, 30, 30)
  const [greedy] = holdersOf(all, 31)
  greedy?.hold(100) // the total now exceeds the limit, and the connection with the most bytes is closed
  assert.deepEqual([givenUp(crowd), greedy?.isGivenUp], [[0], true])
  holdersOf(all, 25, 25, 25, 25)
  assert.deepEqual(givenUp(crowd), [0, 1, 2])
})

test('connections that were closed, and bytes that a connection no longer holds, do not count', () => {
  const all = new HeldBytes(100)
  const [first, second] = holdersOf(all, 90, 5)
  assert.ok(first && second)
  first.hold(1)
  second.hold(98)
  assert.deepEqual(givenUp([first, second]), [])
  second.giveUp()
  assert.deepEqual(givenUp(holdersOf(all, 49, 50)), [])
})
