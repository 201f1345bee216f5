/**
 * Versions: what each page holds, and what it held for as long as an open list reads it. A list
 * shows the items of one moment without touching a page when it is opened.
 *
 * All versions are chained in the order of the list. A page that changes leaves the version that an
 * open list sees in the chain and goes on with a new one after it; a list passes over the versions of
 * other moments. A version that ended is kept for the newest list that sees it; when that list is
 * released, the next older one that sees it keeps it, or it goes.
 *
 * @module
 */

import { setImmediate as nextTurn } from 'node:timers/promises'
import { type ItemList, StoreError } from '../item-store.js'
import type { Frame, FramePool } from './frames.js'

/** Versions settled in one turn when a list is released, so that many hold nobody up. */
const batch = 256

/** Versions of other moments that a list passes over in one turn, likewise. */
const stride = 10_000

/** How many versions there may be for each page that may be, so that a full store can change too. */
const versionsPerPage = 2

export interface Version {
  frame: Frame
  /** Bytes of the texts, from the start of the frame. */
  used: number
  /** The number of lists opened before it began, and before it ended; 0 if it is a page's own. */
  readonly since: number
  until: number
  /** Its neighbours in the chain. */
  before: Version | undefined
  after: Version | undefined
  /** The next of those that are kept for the same list. */
  nextKept: Version | undefined
}

interface OpenList {
  /** Its number. It sees the versions that began before it and ended after it, if at all. */
  readonly moment: number
  /** The versions that ended and that no newer list sees. */
  kept: Version | undefined
  isReleased: boolean
}

export class Versions {
  readonly frames: FramePool
  readonly maxPages: number
  first: Version | undefined
  /** How many there are that pages have, and that are kept for lists. */
  own = 0
  kept = 0
  /** From the oldest to the newest. */
  readonly open: OpenList[] = []
  #opened = 0

  constructor(frames: FramePool, maxPages: number) {
    this.frames = frames
    this.maxPages = maxPages
  }

  /**
   * The first version of a new page, without items, after the one of another page or first of all.
   * @param bytes for a frame with memory of its own.
   * @throws {StoreError} `STORE_FULL`
   */
  insert(before: Version | undefined, bytes?: number): Version {
    if (this.own >= this.maxPages) {
      throw new StoreError('STORE_FULL', 'The store is full: all of its pages are in use')
    }
    this.#needRoom()
    return this.#link(before, this.frames.take(bytes), 0)
  }

  /** Whether an open list sees the version, which is its page's own. */
  isRead(version: Version): boolean {
    const newest = this.open.at(-1)
    return newest !== undefined && version.since < newest.moment
  }

  /**
   * The frame for what is to replace a version: nothing fails after it.
   * @throws {StoreError} `STORE_FULL`
   */
  takeFrame(version: Version, bytes?: number): Frame {
    if (this.isRead(version)) this.#needRoom()
    return this.frames.take(bytes)
  }

  /** Puts other bytes in the place of a version, and returns the one that its page goes on with. */
  replace(version: Version, frame: Frame, used: number): Version {
    if (this.isRead(version)) return this.#succeed(version, frame, used)
    const old = version.frame
    version.frame = frame
    version.used = used
    this.frames.release(old)
    return version
  }

  /**
   * The version to add bytes to: a list reads no further than `used`, so that the frame can stay.
   * @throws {StoreError} `STORE_FULL`
   */
  extend(version: Version): Version {
    if (!this.isRead(version)) return version
    this.#needRoom()
    version.frame.users += 1
    return this.#succeed(version, version.frame, version.used)
  }

  /** Ends the version of a page that is dropped. Nothing fails. */
  drop(version: Version): void {
    if (this.isRead(version)) {
      this.#end(version)
    } else {
      this.own -= 1
      this.#unlink(version)
    }
  }

  /** A list of this moment. @param byteLength of all versions that it sees, but for the last comma. */
  list(byteLength: number): ItemList {
    this.#opened += 1
    const list = { moment: this.#opened, kept: undefined, isReleased: false }
    this.open.push(list)
    this.#pin()
    return {
      byteLength,
      chunks: this.#chunksOf(list, byteLength),
      release: () => {
        if (list.isReleased) return
        list.isReleased = true
        this.open.splice(this.open.indexOf(list), 1)
        this.#pin()
        this.#settle(list)
      },
    }
  }

  async *#chunksOf(list: OpenList, byteLength: number): AsyncGenerator<Buffer, void> {
    const { moment } = list
    let left = byteLength
    let passed = 0
    let version = this.first
    while (version !== undefined && left > 0 && !list.isReleased) {
      const { frame, used, since, until } = version
      if (since < moment && (until === 0 || until >= moment)) {
        frame.readBy = Math.max(frame.readBy, moment)
        const chunk = frame.bytes.subarray(frame.start, frame.start + Math.min(used, left))
        left -= chunk.length
        yield chunk
      } else {
        passed += 1
        // The version may be gone afterwards; what came after it still leads to the next one to show,
        // which stays as long as the list.
        if (passed % stride === 0) await nextTurn()
      }
      version = version.after
    }
  }

  /** Passes the versions kept for a list that is released on to the next older one, or lets go of them. */
  #settle(list: OpenList): void {
    const heir = this.open.findLast(({ moment }) => moment < list.moment)
    for (let settled = 0; list.kept !== undefined; settled += 1) {
      if (settled === batch) {
        setImmediate(() => this.#settle(list))
        return
      }
      const version: Version = list.kept
      list.kept = version.nextKept
      if (heir !== undefined && version.since < heir.moment) {
        keep(heir, version)
      } else {
        this.kept -= 1
        this.#unlink(version)
      }
    }
  }

  #pin(): void {
    this.frames.pinnedFrom = this.open[0]?.moment ?? Number.POSITIVE_INFINITY
  }

  #needRoom(): void {
    if (this.own + this.kept < this.maxPages * versionsPerPage) return
    throw new StoreError('STORE_FULL', 'The store is full: lists that are being read hold the rest')
  }

  #succeed(version: Version, frame: Frame, used: number): Version {
    this.#end(version)
    return this.#link(version, frame, used)
  }

  /** Ends a version that an open list sees. */
  #end(version: Version): void {
    const newest = this.open.at(-1)
    if (newest === undefined) return
    version.until = this.#opened
    keep(newest, version)
    this.own -= 1
    this.kept += 1
  }

  #link(before: Version | undefined, frame: Frame, used: number): Version {
    const after = before === undefined ? this.first : before.after
    const since = this.#opened
    const version = { frame, used, since, until: 0, before, after, nextKept: undefined }
    if (before === undefined) this.first = version
    else before.after = version
    if (after !== undefined) after.before = version
    this.own += 1
    return version
  }

  #unlink({ before, after, frame }: Version): void {
    if (before === undefined) this.first = after
    else before.after = after
    if (after !== undefined) after.before = before
    this.frames.release(frame)
  }
}

function keep(list: OpenList, version: Version): void {
  version.nextKept = list.kept
  list.kept = version
}
