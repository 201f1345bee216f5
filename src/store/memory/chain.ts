/**
 * The chain of all blocks, in the order in which lists read them. Lists are snapshots, because blocks are copied on
 * write. A retired block stays in the chain until all lists that read it have been released. @module
 */

import type { ItemFilter } from '../../item/item.js'
import { ReadMemory } from '../../memory/read-memory.js'
import { nextTurn, setImmediate } from '../../memory/timers.js'
import { type ItemList, StoreError } from '../item-store.js'
import type { Block } from './block.js'
import type { FramePool } from './frames.js'

const handedOverPerTurn = 64 // retired blocks to free or pass on per turn of the event loop
const skippedPerTurn = 10_000 // blocks per turn of the event loop
const maxPassed = 100 // retired blocks to skip in search of a neighbour
const comma = Buffer.from(',')

interface OpenList {
  readonly listNumber: number // counted from 1, in the order of opening
  retained: Block | undefined // first block kept for this list; the others follow through `nextRetained`
  readonly memory: ReadMemory // counts the kept blocks, each for the oldest list that reads it
  isReleased: boolean
}

export class Chain {
  readonly #frames: FramePool
  readonly #maxBlocks: number
  first: Block | undefined
  last: Block | undefined
  current = 0
  readonly open: OpenList[] = []
  #opened = 0

  /** @param maxBlocks limit for current blocks. The memory limit for readers bounds the retired ones. */
  constructor(frames: FramePool, maxBlocks: number) {
    this.#frames = frames
    this.#maxBlocks = maxBlocks
  }

  isRead(block: Block): boolean {
    const newest = this.open.at(-1)
    return newest !== undefined && block.createdAfterList < newest.listNumber
  }

  /** Checks that there may be another current block. @throws {StoreError} `STORE_FULL` */
  needRoom(): void {
    if (this.current >= this.#maxBlocks) {
      throw new StoreError('STORE_FULL', 'The store is full: all of its blocks are in use')
    }
  }

  insert(block: Block, before: Block | undefined): void {
    const after = before === undefined ? this.first : before.after
    block.createdAfterList = this.#opened
    this.#link(before, block)
    this.#link(block, after)
    this.current += 1
  }

  remove(block: Block): void {
    this.current -= 1
    block.retiredAfterList = this.#opened
    this.#retainOrFree(block, block.createdAfterList)
  }

  /** Returns the nearest current block on one side; `undefined` if it follows more than `maxPassed` retired ones. */
  neighbour(block: Block, side: 'before' | 'after'): Block | undefined {
    let one = block[side]
    for (let passed = 0; one !== undefined && one.retiredAfterList > 0; passed += 1) {
      if (passed === maxPassed) return undefined
      one = one[side]
    }
    return one
  }

  /** @param byteLength of all item texts with commas between them. */
  list(byteLength: number, version: string, isWanted?: ItemFilter): ItemList {
    this.#opened += 1
    const memory = new ReadMemory()
    const list = { listNumber: this.#opened, retained: undefined, memory, isReleased: false }
    this.open.push(list)
    this.#pin()
    const isOneBlock = isWanted === undefined && this.first === this.last
    return {
      byteLength: isWanted === undefined ? byteLength : undefined,
      version,
      memory,
      chunks: isOneBlock
        ? this.#onlyChunk(list, byteLength)
        : { [Symbol.asyncIterator]: () => this.#chunksOf(list, byteLength, isWanted) },
      release: () => {
        if (list.isReleased) return
        list.isReleased = true
        this.open.splice(this.open.indexOf(list), 1)
        this.#pin()
        this.#handOverBlocks(list)
      },
    }
  }

  /** Returns an array with the text of the only block. With a generator, a list of 100 items takes 5% longer. */
  #onlyChunk({ listNumber }: OpenList, byteLength: number): Buffer[] {
    if (this.first === undefined) return []
    const { frame } = this.first
    frame.readBy = listNumber
    return [frame.bytes.subarray(frame.start, frame.start + byteLength)]
  }

  async *#chunksOf(
    list: OpenList,
    byteLength: number,
    isWanted?: ItemFilter,
  ): AsyncGenerator<Buffer, void> {
    const { listNumber } = list
    let isFirst = true
    let left = byteLength // bytes still to return; items appended after the list was opened come later
    let skipped = 0
    let block = this.first
    while (block !== undefined && left > 0 && !list.isReleased) {
      const { frame, used, createdAfterList, retiredAfterList } = block
      if (
        createdAfterList < listNumber &&
        (retiredAfterList === 0 || retiredAfterList >= listNumber)
      ) {
        frame.readBy = Math.max(frame.readBy, listNumber)
        const chunk = frame.bytes.subarray(frame.start, frame.start + Math.min(used, left))
        left -= chunk.length
        if (isWanted === undefined) {
          yield chunk
          if (block.isLarge && left > 0 && !list.isReleased) yield comma
        } else {
          const wanted = block.wanted(isWanted, chunk.length)
          if (wanted.length > 0 && !isFirst) yield comma
          isFirst &&= wanted.length === 0
          yield wanted // an empty chunk too, so that the reader can pause after each block
        }
        if (block.isLarge) left -= comma.length
      } else {
        skipped += 1
        // The skipped block may be freed meanwhile, but its `after` stays valid for this list.
        if (skipped % skippedPerTurn === 0) await nextTurn()
      }
      block = block.after
    }
  }

  /** Passes the blocks of a released list to the next newer one, or frees them. */
  #handOverBlocks(list: OpenList): void {
    for (let handedOver = 0; list.retained !== undefined; handedOver += 1) {
      if (handedOver === handedOverPerTurn) {
        setImmediate(() => this.#handOverBlocks(list))
        return
      }
      const block: Block = list.retained
      list.retained = block.nextRetained
      this.#retainOrFree(block, list.listNumber)
    }
  }

  /** Keeps a retired block for the oldest list that reads it and was opened after `listNumber`, or frees it. */
  #retainOrFree(block: Block, listNumber: number): void {
    const list = this.open.find((each) => each.listNumber > listNumber)
    if (list !== undefined && list.listNumber <= block.retiredAfterList) {
      block.nextRetained = list.retained
      list.retained = block
      list.memory.change(block.isLarge ? block.used : this.#frames.size)
    } else {
      this.#link(block.before, block.after)
      this.#frames.release(block.frame)
    }
  }

  #pin(): void {
    this.#frames.pinnedFrom = this.open[0]?.listNumber ?? Number.POSITIVE_INFINITY
  }

  #link(before: Block | undefined, after: Block | undefined): void {
    if (before === undefined) this.first = after
    else before.after = after
    if (after === undefined) this.last = before
    else after.before = before
  }
}
