/**
 * The chain of all blocks in list order: current blocks, and retired blocks that open lists still read. A list is a
 * snapshot. Opening a list takes the same time for any number of blocks.
 *
 * Blocks are copied on write. While an open list reads a block, the block is not modified, except that items may be
 * appended to the last block. For any other change, a new block replaces the old block, which is retired but stays in
 * the chain. A list skips blocks that were made after, or retired before, the list was opened. A retired block is kept
 * for the newest list that reads the block. When this list is released, the block passes to the next older list that
 * reads the block, or is freed.
 *
 * @module
 */

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ItemFilter } from '../../item/item.js'
import { type ItemList, StoreError } from '../item-store.js'
import type { Block } from './block.js'
import type { FramePool } from './frames.js'

/** Number of retired blocks that are passed on or freed in one turn of the event loop when a list is released. */
const batch = 64

/** Comma that a list sends after a large item, whose block does not contain a comma. */
const comma = Buffer.from(',')

/** Maximum number of blocks that a list skips in one turn of the event loop. */
const stride = 10_000

/** Maximum number of retired blocks to skip in the search for a block's neighbour. */
const reach = 100

interface OpenList {
  /** Number of the list, counted from 1 in the order in which lists were opened. */
  readonly moment: number
  /** First of the retired blocks that are kept for this list, which is the newest list that reads them. */
  kept: Block | undefined
  isReleased: boolean
}

export class Chain {
  readonly #frames: FramePool
  readonly #maxBlocks: number
  first: Block | undefined
  last: Block | undefined
  /** Number of current blocks. */
  current = 0
  /** Number of retired blocks that are kept for lists. */
  retired = 0
  /** Open lists, from the oldest to the newest. */
  readonly open: OpenList[] = []
  #opened = 0

  /** @param maxBlocks maximum number of current blocks. Current and retired blocks together may be twice as many. */
  constructor(frames: FramePool, maxBlocks: number) {
    this.#frames = frames
    this.#maxBlocks = maxBlocks
  }

  /** Returns whether an open list reads a current block. */
  isRead(block: Block): boolean {
    const newest = this.open.at(-1)
    return newest !== undefined && block.since < newest.moment
  }

  /**
   * Checks that the limits allow another block.
   * @param old the block that the new block will replace, if any.
   * @throws {StoreError} `STORE_FULL`
   */
  needRoom(old?: Block): void {
    if (old === undefined && this.current >= this.#maxBlocks) {
      throw new StoreError('STORE_FULL', 'The store is full: all of its blocks are in use')
    }
    const isFreed = old !== undefined && !this.isRead(old)
    if (!isFreed && this.current + this.retired >= 2 * this.#maxBlocks) {
      throw new StoreError(
        'STORE_FULL',
        'The store is full: lists that clients are reading use all other blocks',
      )
    }
  }

  /** Inserts a new block after the block `before`, or at the start of the chain if `before` is `undefined`. */
  insert(block: Block, before: Block | undefined): void {
    const after = before === undefined ? this.first : before.after
    block.since = this.#opened
    this.#link(before, block)
    this.#link(block, after)
    this.current += 1
  }

  /** Retires a current block. Its frame is released once no open list reads the block. */
  remove(block: Block): void {
    this.current -= 1
    this.retired += 1
    block.until = this.#opened
    this.#keep(block, this.open.at(-1))
  }

  /**
   * Returns the nearest current block before or after a block; `undefined` if more than `reach` retired blocks are in
   * between.
   */
  neighbour(block: Block, side: 'before' | 'after'): Block | undefined {
    let one = block[side]
    for (let passed = 0; one !== undefined && one.until > 0; passed += 1) {
      if (passed === reach) return undefined
      one = one[side]
    }
    return one
  }

  /**
   * Opens a list of the items as they are now.
   * @param byteLength total length in bytes of all texts, with the commas between them.
   * @param isWanted filter for the items to list; by default, all items are listed.
   */
  list(byteLength: number, version: string, isWanted?: ItemFilter): ItemList {
    this.#opened += 1
    const list = { moment: this.#opened, kept: undefined, isReleased: false }
    this.open.push(list)
    this.#pin()
    return {
      byteLength: isWanted === undefined ? byteLength : undefined,
      version,
      chunks: { [Symbol.asyncIterator]: () => this.#chunksOf(list, byteLength, isWanted) },
      release: () => {
        if (list.isReleased) return
        list.isReleased = true
        this.open.splice(this.open.indexOf(list), 1)
        this.#pin()
        this.#settle(list)
      },
    }
  }

  async *#chunksOf(
    list: OpenList,
    byteLength: number,
    isWanted?: ItemFilter,
  ): AsyncGenerator<Buffer, void> {
    const { moment } = list
    let isFirst = true
    let left = byteLength // bytes still to return; items that were appended after the list was opened come later
    let skipped = 0
    let block = this.first
    while (block !== undefined && left > 0 && !list.isReleased) {
      const { frame, used, since, until } = block
      if (since < moment && (until === 0 || until >= moment)) {
        frame.readBy = Math.max(frame.readBy, moment)
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
        // The skipped block may be freed during the pause. Its field `after` still leads to the next block of this
        // list. Blocks that a list reads stay in the chain until the list is released.
        if (skipped % stride === 0) await nextTurn()
      }
      block = block.after
    }
  }

  /** Passes the blocks that were kept for a released list to the next older list, or frees the blocks. */
  #settle(list: OpenList): void {
    const older = this.open.findLast(({ moment }) => moment < list.moment)
    for (let settled = 0; list.kept !== undefined; settled += 1) {
      if (settled === batch) {
        setImmediate(() => this.#settle(list))
        return
      }
      const block: Block = list.kept
      list.kept = block.nextKept
      this.#keep(block, older)
    }
  }

  /** Keeps a retired block for a list, or frees the block if the list does not read it. */
  #keep(block: Block, list: OpenList | undefined): void {
    if (list !== undefined && block.since < list.moment) {
      block.nextKept = list.kept
      list.kept = block
    } else {
      this.retired -= 1
      this.#link(block.before, block.after)
      this.#frames.release(block.frame)
    }
  }

  #pin(): void {
    this.#frames.pinnedFrom = this.open[0]?.moment ?? Number.POSITIVE_INFINITY
  }

  #link(before: Block | undefined, after: Block | undefined): void {
    if (before === undefined) this.first = after
    else before.after = after
    if (after === undefined) this.last = before
    else after.before = before
  }
}
