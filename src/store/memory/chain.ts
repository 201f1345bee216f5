/**
 * The chain: all blocks in list order, the current ones and those that open lists still read. A list
 * is a snapshot, and opening one touches no block.
 *
 * A block that an open list reads is never modified, except that items may be appended to the last
 * one (copy on write): a new block takes its place, and the old one is retired but stays in the chain.
 * A list skips the blocks of other moments. A retired block belongs to the newest list that reads it;
 * when that list is released, to the next older one that reads it, or it is freed.
 *
 * @module
 */

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ItemFilter } from '../../item/item.js'
import { type ItemList, StoreError } from '../item-store.js'
import type { Block } from './block.js'
import type { FramePool } from './frames.js'

/** Retired blocks passed on or freed in one turn of the event loop when a list is released. */
const batch = 64

/** What follows a large item, which is sent from where it lies. */
const comma = Buffer.from(',')

/** Blocks of other moments that a list skips in one turn. */
const stride = 10_000

/** Retired blocks skipped to find a neighbour. */
const reach = 100

interface OpenList {
  /** Its number, counted from 1. It reads the blocks made before it and not retired before it. */
  readonly moment: number
  /** The first retired block that this list reads and newer lists do not. */
  kept: Block | undefined
  isReleased: boolean
}

export class Chain {
  readonly #frames: FramePool
  readonly #maxBlocks: number
  first: Block | undefined
  last: Block | undefined
  /** Number of current blocks, and of retired ones. */
  current = 0
  retired = 0
  /** From the oldest to the newest. */
  readonly open: OpenList[] = []
  #opened = 0

  /** @param maxBlocks maximum number of current blocks; with the retired ones, twice as many. */
  constructor(frames: FramePool, maxBlocks: number) {
    this.#frames = frames
    this.#maxBlocks = maxBlocks
  }

  /** Whether an open list reads a current block. */
  isRead(block: Block): boolean {
    const newest = this.open.at(-1)
    return newest !== undefined && block.since < newest.moment
  }

  /**
   * Checks that there may be one more block.
   * @param old the block it will replace.
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
        'The store is full: lists that are being read hold the rest',
      )
    }
  }

  /** Puts a new block after another one, or at the start. */
  insert(block: Block, before: Block | undefined): void {
    const after = before === undefined ? this.first : before.after
    block.since = this.#opened
    this.#link(before, block)
    this.#link(block, after)
    this.current += 1
  }

  /** Takes a block out of the list. Its frame is released once no open list reads it. */
  remove(block: Block): void {
    this.current -= 1
    this.retired += 1
    block.until = this.#opened
    this.#keep(block, this.open.at(-1))
  }

  /** The current block next to another one, unless too many retired ones lie between them. */
  neighbour(block: Block, side: 'before' | 'after'): Block | undefined {
    let one = block[side]
    for (let passed = 0; one !== undefined && one.until > 0; passed += 1) {
      if (passed === reach) return undefined
      one = one[side]
    }
    return one
  }

  /**
   * A list of the items as they are now.
   * @param byteLength of all texts with the commas between them.
   * @param isWanted leaves out the other items; by default none.
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
    let left = byteLength // items appended to the last block since then lie beyond it
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
          yield wanted // an empty one too, so that the reader can pause after each block
        }
        if (block.isLarge) left -= comma.length
      } else {
        skipped += 1
        // The block may be freed meanwhile; its link still leads to the next one to show, which stays
        // as long as the list.
        if (skipped % stride === 0) await nextTurn()
      }
      block = block.after
    }
  }

  /** Passes the blocks kept for a released list on to the next older list, or frees them. */
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

  /** Keeps a retired block for a list, or frees it if the list does not read it. */
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
