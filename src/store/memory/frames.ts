/**
 * Frames: pieces of memory outside of the JavaScript heap, all of one size, taken and given back
 * without waiting for the garbage collector.
 *
 * They are cut from slabs so large that the system's allocator maps each on its own and takes it
 * back whole. Allocated one by one, or in sizes of their own, they leave it full of holes after churn
 * (bench/CHOICES.md). New frames come from the fullest slab, and each release moves a few frames out
 * of the emptiest one, so that slabs become empty.
 *
 * @module
 */

import { allocate, alwaysMapped, isMapped } from '../../memory/mapped.js'
import { outOfMemory } from '../item-store.js'

/**
 * A small store has one small slab; each new one is as large as all together, up to the largest, and mapped by
 * itself. The first is not: V8 collects garbage when it is told of 32 MiB at once, and may then take
 * short-lived objects for long-lived ones for good, for 3 µs more in each read.
 */
const firstSlab = 1024 * 1024

/** No slab is larger than what the system maps in any case. */
const largestSlab = alwaysMapped

/** The emptiest slab is emptied if this part of the others is still free afterwards. */
const spare = 1 / 8

/** Frames moved for each that is released: two keep up with a client that deletes everything. */
const moves = 2

/**
 * Frames with a mapping of their own: beyond that, memory comes from malloc. Linux has 65,530 mappings
 * for a process (vm.max_map_count), and twice as many as there are such frames may be needed.
 */
const maxMappings = 16_384

interface Slab {
  /** In memory that may be longer, so that it is mapped. */
  readonly bytes: Buffer<ArrayBuffer>
  readonly words: Int32Array
  readonly frames: Set<Frame>
  /** Where the frames that are not in use start, in bytes: a stack. */
  readonly free: number[]
}

/** A piece of memory in use. */
export interface Frame {
  /** `undefined` for a frame with memory of its own. */
  slab: Slab | undefined
  /** The memory that the frame is in, and the offset of its first byte there. */
  bytes: Buffer
  start: number
  /** The same memory as 32-bit integers; empty for a frame with memory of its own. */
  words: Int32Array
  /** The moment of the newest list that was given the bytes. */
  readBy: number
}

const noWords = new Int32Array(0)

export class FramePool {
  /** Bytes of a frame, a multiple of 4. */
  readonly size: number
  readonly slabs: Slab[] = []
  /** Bytes of all slabs, of what is free there, and of frames with memory of their own. */
  #slabBytes = 0
  #freeBytes = 0
  #ownBytes = 0
  /** Number of frames with memory of their own. */
  #ownFrames = 0
  /** Frames whose bytes were given to a list of this moment or a later one are not moved. */
  pinnedFrom = Number.POSITIVE_INFINITY

  constructor(size: number) {
    this.size = size
  }

  /** Bytes of the frames in use. */
  get bytesInUse(): number {
    return this.bytesHeld - this.#freeBytes
  }

  /** Bytes of the frames in use and of free ones. */
  get bytesHeld(): number {
    return this.#slabBytes + this.#ownBytes
  }

  /**
   * A frame, which may move whenever another one is released.
   * @throws {StoreError} `STORE_FULL` when the system has no memory left.
   */
  take(): Frame {
    const slab = this.#fullest() ?? this.#addSlab()
    const frame = { slab, bytes: slab.bytes, words: slab.words, start: 0, readBy: 0 }
    this.#put(frame, slab)
    return frame
  }

  /**
   * A frame that is the memory of these bytes and never moves. Beyond the maximum number of mappings, it is
   * a copy of them.
   * @throws {StoreError} `STORE_FULL` when the system has no memory left.
   */
  takeOwn(given: Buffer): Frame {
    const isKept = this.#ownFrames < maxMappings || !isMapped(given)
    const bytes = isKept ? given : allocate(() => Buffer.allocUnsafeSlow(given.length), outOfMemory)
    if (!isKept) bytes.set(given)
    this.#ownBytes += bytes.length
    this.#ownFrames += 1
    return { slab: undefined, bytes, words: noWords, start: 0, readBy: 0 }
  }

  release(frame: Frame): void {
    const { slab, start } = frame
    if (slab === undefined) {
      this.#ownBytes -= frame.bytes.length
      this.#ownFrames -= 1
      return
    }
    slab.frames.delete(frame)
    this.#free(slab, start)
    for (let moved = 0; moved < moves; moved += 1) this.#moveOne()
  }

  #put(frame: Frame, slab: Slab): void {
    frame.slab = slab
    frame.bytes = slab.bytes
    frame.words = slab.words
    frame.start = slab.free.pop() as number // there is room
    slab.frames.add(frame)
    this.#freeBytes -= this.size
  }

  /** Frees a place. A slab without used places gives back its memory, unless it is the only one of a small store. */
  #free(slab: Slab, start: number): void {
    slab.free.push(start)
    this.#freeBytes += this.size
    const isOnly = this.slabs.length === 1 && slab.bytes.length <= firstSlab + this.size
    if (slab.frames.size === 0 && !isOnly) this.#drop(slab)
  }

  /** Moves a frame out of the emptiest slab, if the others have room for all of it and more. */
  #moveOne(): void {
    if (this.slabs.length < 2) return
    const source = this.slabs.reduce((one, other) => (fill(other) < fill(one) ? other : one))
    const { length } = source.bytes
    if (this.#freeBytes - length < (this.#slabBytes - length) * spare) return
    const [frame] = source.frames
    const target = this.#fullest()
    if (frame === undefined || target === undefined || target === source) return
    if (frame.readBy >= this.pinnedFrom) return // and with it the slab stays
    const { start } = frame
    source.frames.delete(frame)
    this.#put(frame, target)
    target.bytes.set(source.bytes.subarray(start, start + this.size), frame.start)
    this.#free(source, start)
  }

  /** The fullest slab with room. */
  #fullest(): Slab | undefined {
    let fullest: Slab | undefined
    for (const slab of this.slabs) {
      if (slab.free.length === 0) continue
      if (fullest === undefined || fill(slab) > fill(fullest)) fullest = slab
    }
    return fullest
  }

  #addSlab(): Slab {
    const wanted = Math.min(Math.max(this.#slabBytes, firstSlab), largestSlab)
    const count = Math.ceil(wanted / this.size)
    const slab = allocate(() => {
      const length = count * this.size
      const memory = new ArrayBuffer(wanted === firstSlab ? length : Math.max(length, alwaysMapped))
      const bytes = Buffer.from(memory, 0, length)
      const words = new Int32Array(memory, 0, length / Int32Array.BYTES_PER_ELEMENT)
      return { bytes, words, frames: new Set<Frame>(), free: new Array<number>(count) }
    }, outOfMemory)
    // The first place comes off the stack first, so that memory is touched only as it is needed.
    for (let place = 0; place < count; place += 1) {
      slab.free[place] = (count - 1 - place) * this.size
    }
    this.slabs.push(slab)
    this.#slabBytes += slab.bytes.length
    this.#freeBytes += slab.bytes.length
    return slab
  }

  #drop(slab: Slab): void {
    this.slabs.splice(this.slabs.indexOf(slab), 1)
    this.#slabBytes -= slab.bytes.length
    this.#freeBytes -= slab.bytes.length
    // Moved to a new object that nobody keeps, the memory goes with the next scavenge. The old one
    // would wait for a collection of old objects, which may never come in a service that is idle.
    const { buffer } = slab.bytes
    structuredClone(buffer, { transfer: [buffer] })
  }
}

/** The part of a slab that is in use. */
function fill({ frames, free }: Slab): number {
  return frames.size / (frames.size + free.length)
}
