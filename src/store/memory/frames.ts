/**
 * Manages frames: equally sized pieces of memory outside of the JavaScript heap. Frames are taken and
 * released without waiting for the garbage collector.
 *
 * Frames are cut from slabs, which are so large that the C library maps each slab separately and unmaps it as a whole.
 * Allocated separately, or in different sizes, frames would leave the allocator's memory full of holes after many
 * changes (bench/CHOICES.md). New frames come from the fullest slab. Each release moves a few frames out of the
 * emptiest slab, so that slabs become empty.
 *
 * @module
 */

import { allocate, alwaysMapped, isMapped } from '../../memory/mapped.js'
import { outOfMemory } from '../item-store.js'

/**
 * Size of the first slab in bytes. Each new slab is as large as all other slabs together, up to `largestSlab`. For any
 * other slab, at least 32 MiB are allocated, so that the slab is mapped separately. Such an allocation makes V8 collect
 * garbage. V8 may then permanently treat short-lived objects as long-lived, which costs a small store 3 µs in each
 * read.
 */
const firstSlab = 1024 * 1024

/** Maximum size of a slab in bytes: the smallest size at which the C library always maps memory separately. */
const largestSlab = alwaysMapped

/** Minimum share of the space in all other slabs that stays free when they take in the frames of the emptiest slab. */
const spare = 1 / 8

/** Number of frames to move for each released frame. Two frames are enough when a client deletes everything. */
const moves = 2

/**
 * Maximum number of frames with a mapping of their own. Further frames use malloc. Linux allows 65,530 mappings per
 * process (vm.max_map_count), and these frames may need two mappings each.
 */
const maxMappings = 16_384

interface Slab {
  /**
   * Memory of the frames. Its `ArrayBuffer` may be longer than the frames, so that the C library maps it separately.
   */
  readonly bytes: Buffer<ArrayBuffer>
  readonly words: Int32Array
  readonly frames: Set<Frame>
  /** Stack with the offsets in `bytes` of the frames that are not in use. */
  readonly free: number[]
}

/** A frame that is in use. */
export interface Frame {
  /** Slab that contains the frame; `undefined` for a frame with memory of its own. */
  slab: Slab | undefined
  bytes: Buffer
  /** Offset of the frame in `bytes`. */
  start: number
  /** The memory of `bytes` as 32-bit integers; empty for a frame with memory of its own. */
  words: Int32Array
  /** Number (`moment`) of the newest list that has returned the bytes of this frame in a chunk. */
  readBy: number
}

const noWords = new Int32Array(0)

export class FramePool {
  /** Size of a frame in bytes, a multiple of 4. */
  readonly size: number
  readonly slabs: Slab[] = []
  #slabBytes = 0
  /** Total size of the free frames in slabs, in bytes. */
  #freeBytes = 0
  /** Total size of the frames with memory of their own, in bytes. */
  #ownBytes = 0
  /** Number of frames with memory of their own. */
  #ownFrames = 0
  /** Number of the oldest open list. Frames that this list or a newer list has returned in a chunk are not moved. */
  pinnedFrom = Number.POSITIVE_INFINITY

  constructor(size: number) {
    this.size = size
  }

  /** Total size of the frames in use, in bytes. */
  get bytesInUse(): number {
    return this.bytesHeld - this.#freeBytes
  }

  /** Total size of all frames, in use and free, in bytes. */
  get bytesHeld(): number {
    return this.#slabBytes + this.#ownBytes
  }

  /**
   * Takes a free frame. The frame may move to other memory whenever another frame is released.
   * @throws {StoreError} `STORE_FULL` if the system has no memory left.
   */
  take(): Frame {
    const slab = this.#fullest() ?? this.#addSlab()
    const frame = { slab, bytes: slab.bytes, words: slab.words, start: 0, readBy: 0 }
    this.#put(frame, slab)
    return frame
  }

  /**
   * Creates a frame that uses the memory of the given buffer without copying it. This frame never moves. Once
   * `maxMappings` such frames exist, a buffer that the C library has mapped separately is copied instead.
   * @throws {StoreError} `STORE_FULL` if the system has no memory left.
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
    frame.start = slab.free.pop() as number // never undefined: the caller chooses a slab with a free frame
    slab.frames.add(frame)
    this.#freeBytes -= this.size
  }

  /** Marks the memory at an offset of a slab as free. Frees an unused slab, unless it is small and the only slab. */
  #free(slab: Slab, start: number): void {
    slab.free.push(start)
    this.#freeBytes += this.size
    const isOnly = this.slabs.length === 1 && slab.bytes.length <= firstSlab + this.size
    if (slab.frames.size === 0 && !isOnly) this.#drop(slab)
  }

  /**
   * Moves a frame out of the emptiest slab, if the other slabs have room for all frames of this slab and for `spare`.
   */
  #moveOne(): void {
    if (this.slabs.length < 2) return
    const source = this.slabs.reduce((one, other) => (fill(other) < fill(one) ? other : one))
    const { length } = source.bytes
    if (this.#freeBytes - length < (this.#slabBytes - length) * spare) return
    const [frame] = source.frames
    const target = this.#fullest()
    if (frame === undefined || target === undefined || target === source) return
    if (frame.readBy >= this.pinnedFrom) return // an open list may still be sending these bytes
    const { start } = frame
    source.frames.delete(frame)
    this.#put(frame, target)
    target.bytes.set(source.bytes.subarray(start, start + this.size), frame.start)
    this.#free(source, start)
  }

  /** Returns the fullest slab that has a free frame. */
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
    // The frame with the lowest offset is taken first, so that memory is touched only when it is needed.
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
    // The memory moves to a new `ArrayBuffer`, which V8 frees in its next scavenge. The old `ArrayBuffer` would keep
    // the memory until V8 collects old objects, which may never happen in an idle service.
    const { buffer } = slab.bytes
    structuredClone(buffer, { transfer: [buffer] })
  }
}

/** Returns the share of a slab's frames that are in use, from 0 to 1. */
function fill({ frames, free }: Slab): number {
  return frames.size / (frames.size + free.length)
}
