import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HeldBytes } from './queue.js'

class Holder {
  heldBytes = 0
  isGivenUp = false
  readonly #all: HeldBytes

  constructor(all: HeldBytes) {
    this.#all = all
  }

  hold(bytes: number): void {
    const before = this.heldBytes
    this.heldBytes = bytes
    this.#all.changed(this, before)
  }

  giveUp(): void {
    this.isGivenUp = true
    this.hold(0)
  }
}

function holdersOf(all: HeldBytes, ...sizes: number[]): Holder[] {
  return sizes.map((bytes) => {
    const holder = new Holder(all)
    holder.hold(bytes)
    return holder
  })
}

function givenUp(holders: readonly Holder[]): number[] {
  return holders.flatMap(({ isGivenUp }, index) => (isGivenUp ? [index] : []))
}

test('no connection is closed while the total memory is within the limit', () => {
  assert.deepEqual(givenUp(holdersOf(new HeldBytes(100), 50, 50)), [])
})

test('beyond the limit, the connection with the most bytes is closed, even if another made the total exceed it', () => {
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

test('the memory counts as crowded when the total exceeds half of the limit', () => {
  const all = new HeldBytes(100)
  const [holder] = holdersOf(all, 50)
  assert.equal(all.isCrowded, false)
  holder?.hold(51)
  assert.equal(all.isCrowded, true)
})
