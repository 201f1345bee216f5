/**
 * Distributes items among blocks. A change that throws has no effect. It may throw a `StoreError` or, if no memory is
 * left, a `RangeError`. @module
 */

import type { ItemId } from '../../item/id.js'
import { isOutOfMemory } from '../../memory/mapped.js'
import { StoreError } from '../item-store.js'
import { Block, entryBytes } from './block.js'
import { Chain } from './chain.js'
import { FramePool } from './frames.js'
import { hashOf, ItemIndex } from './item-index.js'

const largeItem = 1 / 2 // of a block's size; a larger item gets a block of its own
const packed = 15 / 16 // of a block, at most, for a merge, so that items can grow without a split

/** Where an item is stored. Valid until the next change to any item. */
export interface ItemLocation {
  readonly id: ItemId
  readonly hash: number
  readonly block: Block
  readonly position: number
}

interface BlocksOptions {
  /** Size of a block in bytes. Large blocks slow down deletes; small ones split lists into many chunks. */
  readonly blockBytes?: number
  readonly maxBlocks?: number
}

export class Blocks {
  readonly options: BlocksOptions
  readonly frames: FramePool
  readonly chain: Chain
  readonly index = new ItemIndex()
  readonly byNumber: (Block | undefined)[] = []
  readonly freeNumbers: number[] = []
  /**
   * Last current block, which takes new items; `undefined` if a new one is needed. Open lists don't read the items that
   * are added later.
   */
  tail: Block | undefined

  constructor(options: BlocksOptions = {}) {
    const { blockBytes = 64 * 1024, maxBlocks = Number.POSITIVE_INFINITY } = options
    this.options = options
    this.frames = new FramePool(Math.ceil(blockBytes / 4) * 4) // a multiple of 4, for tables of 32-bit words
    this.chain = new Chain(this.frames, maxBlocks)
  }

  find(id: ItemId): ItemLocation | undefined {
    const hash = hashOf(id)
    return this.index.find(hash, (number) => {
      const block = this.byNumber[number] as Block // never undefined: every entry's block exists
      const position = block.positionOf(id, hash)
      return position === undefined ? undefined : { id, hash, block, position }
    })
  }

  add(id: ItemId, text: Buffer): void {
    const hash = hashOf(id)
    this.index.needRoom(hash)
    const block = this.#blockForNew(text)
    block.append(hash, text)
    this.index.add(hash, block.number)
  }

  replace(location: ItemLocation, text: Buffer): void {
    const { id, hash } = location
    const length = text.length + 1
    const growth = length - location.block.lengthOf(location.position)
    if (location.block.isLarge || this.#isLarge(length)) {
      const alone = this.#isolate(location)
      const block = this.#newBlock(text, alone)
      block.append(hash, text)
      this.#swap(alone, block)
    } else {
      const { block, position } = this.#withRoom(location, growth)
      this.#writable(block).replace(position, text)
    }
    if (growth < 0) this.#mergeNeighbours(this.#locationOf(id).block)
  }

  remove({ hash, block, position }: ItemLocation): void {
    const changed = block.count === 1 ? undefined : this.#writable(block)
    this.index.remove(hash, block.number)
    changed?.remove(position)
    if (changed === undefined) this.#drop(block)
    else this.#mergeNeighbours(changed)
  }

  #isLarge(length: number): boolean {
    return length + entryBytes > this.frames.size * largeItem
  }

  #locationOf(id: ItemId): ItemLocation {
    return this.find(id) as ItemLocation // never undefined: callers pass ids of items
  }

  #blockForNew(text: Buffer): Block {
    const { tail } = this
    const length = text.length + 1
    const isLarge = this.#isLarge(length)
    if (tail !== undefined && !isLarge && tail.filled + length + entryBytes <= this.frames.size) {
      return tail
    }
    const block = this.#insert(this.chain.last, text)
    this.tail = isLarge ? undefined : block
    return block
  }

  #withRoom(given: ItemLocation, growth: number): ItemLocation {
    let location = given
    while (location.block.filled + growth > this.frames.size) {
      const { block } = location
      this.#split(block, Math.max(1, block.countWithin(block.filled / 2)))
      location = this.#locationOf(given.id)
    }
    return location
  }

  #isolate({ id, block, position }: ItemLocation): Block {
    if (position + 1 < block.count) this.#split(block, position + 1)
    if (position > 0) this.#split(this.#locationOf(id).block, position)
    return this.#locationOf(id).block
  }

  #split(block: Block, position: number): void {
    const source = this.#writable(block)
    const rest = this.#insert(source)
    this.#move(source, position, source.count, rest)
    if (this.tail === source) this.tail = rest
  }

  /** Merges two neighbours into one, or three into two, if their items fit. */
  #mergeNeighbours(block: Block): void {
    const before = this.chain.neighbour(block, 'before')
    const after = this.chain.neighbour(block, 'after')
    const [roomBefore, roomAfter] = [this.#roomIn(before), this.#roomIn(after)]
    if (block.isLarge || block.filled > roomBefore + roomAfter) return
    const count = block.countWithin(roomBefore)
    try {
      if (before !== undefined && count === block.count) {
        this.#merge(before, block)
      } else if (after !== undefined && block.filled <= roomAfter) {
        this.#merge(block, after)
      } else if (before !== undefined && after !== undefined && count > 0) {
        const [target, source] = [this.#writable(before), this.#writable(block)]
        this.#move(source, 0, count, target)
        if (source.filled <= roomAfter) this.#merge(source, after)
      }
    } catch (error) {
      if (!(error instanceof StoreError || isOutOfMemory(error))) throw error
    }
  }

  #roomIn(block: Block | undefined): number {
    if (block === undefined || block.isLarge) return 0
    return Math.max(0, this.frames.size * packed - block.filled)
  }

  #merge(before: Block, block: Block): void {
    const target = this.#writable(before)
    const isTail = block === this.tail
    this.#move(block, 0, block.count, target)
    if (isTail) this.tail = target
  }

  /** Moves items up to position `to` (exclusive). `source` must be writable unless it becomes empty. */
  #move(source: Block, from: number, to: number, target: Block): void {
    for (const hash of source.copyTo(target, from, to)) {
      this.index.move(hash, source.number, target.number)
    }
    if (to - from === source.count) this.#drop(source)
    else source.remove(from, to)
  }

  /** Returns a block that may be changed: this one or, if an open list reads it, a copy in its place. */
  #writable(block: Block): Block {
    if (!this.chain.isRead(block)) return block
    const copy = this.#newBlock(undefined, block)
    block.copyTo(copy, 0, block.count)
    this.#swap(block, copy)
    return copy
  }

  #insert(before: Block | undefined, text?: Buffer): Block {
    const block = this.#newBlock(text)
    block.number = this.freeNumbers.pop() ?? this.byNumber.length
    this.byNumber[block.number] = block
    this.chain.insert(block, before)
    return block
  }

  /** @param old block to be replaced, if any. */
  #newBlock(text?: Buffer, old?: Block): Block {
    if (old === undefined) this.chain.needRoom()
    const isLarge = text !== undefined && this.#isLarge(text.length + 1)
    const frame = isLarge ? this.frames.takeOwn(text) : this.frames.take()
    return new Block(frame, this.frames.size)
  }

  #swap(old: Block, block: Block): void {
    block.number = old.number
    this.byNumber[block.number] = block
    this.chain.insert(block, old)
    this.chain.remove(old)
    if (this.tail === old) this.tail = block.isLarge ? undefined : block
  }

  #drop(block: Block): void {
    this.byNumber[block.number] = undefined
    this.freeNumbers.push(block.number)
    this.chain.remove(block)
    if (this.tail === block) this.tail = undefined
  }
}
