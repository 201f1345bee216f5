/**
 * Manages frames: pieces of memory of equal size outside the JavaScript heap. A slab of many frames has one memory
 * mapping. Frames that were allocated separately would leave holes when freed (bench/CHOICES.md). @module
 */

import { allocate, alwaysMapped, freed, isMapped, requireAddresses } from '../../memory/mapped.js'
import { memoryOf } from '../../memory/read-memory.js'
import { outOfMemory } from '../item-store.js'

/** Size of the first slab in bytes. With a slab of 32 MiB, V8 could take 3 µs longer for each read. */
const firstSlab = 1024 * 1024
/** Minimum fraction of the other slabs that must stay free when the emptiest slab is emptied into them. */
const spare = 1 / 8
/** Number of frames to move for each released frame. Two are enough to empty slabs while items are being deleted. */
const moves = 2
/** Maximum number of frames that have a memory mapping of their own. Linux allows 65,530 mappings per process. */
const maxMappings = 16_384

interface Slab {
  /** Memory of the frames. Its `ArrayBuffer` may be longer, so that the C library gives the buffer a memory mapping. */
  readonly bytes: Buffer<ArrayBuffer>
  readonly words: Int32Array
  readonly frames: Set<Frame>
  /** Stack of the free frames' offsets in `bytes`. */
  readonly free: number[]
}

export interface Frame {
  /** Slab that contains the frame; `undefined` for a frame with memory of its own. */
  slab: Slab | undefined
  bytes: Buffer
  start: number
  /** The memory of `bytes` as 32-bit integers; empty for a frame with memory of its own. */
  words: Int32Array
  /** The `listNumber` of the latest list that has returned bytes of this frame. */
  readBy: number
}

const noWords = new Int32Array(0)

export class FramePool {
  /** Size of a frame in bytes, a multiple of 4. */
  readonly size: number
  readonly slabs: Slab[] = []
  #slabBytes = 0
  #freeBytes = 0
  #ownBytes = 0
  #ownFrames = 0
  /** Number of the oldest open list. A frame that this or a newer list has read must not be moved. */
  pinnedFrom = Number.POSITIVE_INFINITY

  constructor(size: number) {
    this.size = size
  }

  get bytesInUse(): number {
    return this.bytesHeld - this.#freeBytes
  }

  /** Total size of all frames in bytes, whether in use or free. */
  get bytesHeld(): number {
    return this.#slabBytes + this.#ownBytes
  }

  /** Returns a free frame, which may be moved whenever another frame is released. @throws {StoreError} `STORE_FULL` */
  take(): Frame {
    const slab = this.#fullest() ?? this.#addSlab()
    const frame = { slab, bytes: slab.bytes, words: slab.words, start: 0, readBy: 0 }
    this.#put(frame, slab)
    return frame
  }

  /** Returns a frame that uses the given memory and is never moved. @throws {StoreError} `STORE_FULL` */
  takeOwn(given: Buffer): Frame {
    const isKept = this.#ownFrames < maxMappings || !isMapped(given)
    const bytes = isKept ? given : allocate(() => Buffer.allocUnsafeSlow(given.length), outOfMemory)
    if (!isKept) bytes.set(given)
    this.#ownBytes += bytes.length
    this.#ownFrames += 1
    memoryOf(bytes).change(-bytes.length) // clients that read an item cost no memory while the store keeps it
    return { slab: undefined, bytes, words: noWords, start: 0, readBy: 0 }
  }

  release(frame: Frame): void {
    const { slab, start } = frame
    if (slab === undefined) {
      this.#ownBytes -= frame.bytes.length
      this.#ownFrames -= 1
      memoryOf(frame.bytes).change(frame.bytes.length)
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

  #free(slab: Slab, start: number): void {
    slab.free.push(start)
    this.#freeBytes += this.size
    const isOnly = this.slabs.length === 1 && slab.bytes.length <= firstSlab + this.size
    if (slab.frames.size === 0 && !isOnly) this.#drop(slab)
  }

  /** Moves one frame out of the emptiest slab, if the other slabs have room for all of that slab's frames. */
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

  #fullest(): Slab | undefined {
    let fullest: Slab | undefined
    for (const slab of this.slabs) {
      if (slab.free.length === 0) continue
      if (fullest === undefined || fill(slab) > fill(fullest)) fullest = slab
    }
    return fullest
  }

  #addSlab(): Slab {
    const wanted = Math.min(Math.max(this.#slabBytes, firstSlab), alwaysMapped)
    const count = Math.ceil(wanted / this.size)
    const slab = allocate(() => {
      const length = count * this.size
      if (wanted > firstSlab) requireAddresses(wanted)
      const memory = new ArrayBuffer(wanted === firstSlab ? length : Math.max(length, alwaysMapped))
      const bytes = Buffer.from(memory, 0, length)
      const words = new Int32Array(memory, 0, length / Int32Array.BYTES_PER_ELEMENT)
      // Frames with low offsets are taken first, so that the system provides memory only as it is needed.
      const free = Array.from({ length: count }, (_, place) => (count - 1 - place) * this.size)
      return { bytes, words, frames: new Set<Frame>(), free }
    }, outOfMemory)
    this.slabs.push(slab)
    this.#slabBytes += slab.bytes.length
    this.#freeBytes += slab.bytes.length
    return slab
  }

  #drop(slab: Slab): void {
    this.slabs.splice(this.slabs.indexOf(slab), 1)
    this.#slabBytes -= slab.bytes.length
    this.#freeBytes -= slab.bytes.length
    freed(slab.bytes)
  }
}

function fill({ frames, free }: Slab): number {
  return frames.size / (frames.size + free.length)
}
