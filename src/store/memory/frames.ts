/**
 * Manages frames: pieces of memory of equal size, cut from slabs, so that none leaves a hole (bench/CHOICES.md).
 * @module
 */

import { alwaysMapped, freed, isMapped, requireAddresses } from '../../memory/mapped.js'
import { memoryOf } from '../../memory/read-memory.js'

const firstSlab = 1024 * 1024 // in bytes; with 32 MiB, V8 could take 3 µs longer for each read
const spare = 1 / 8 // of the other slabs must stay free when the emptiest is emptied into them
const moves = 2 // frames for each released one, enough to empty slabs during deletes
const maxMappings = 16_384 // of frames on their own; Linux allows 65,530 per process

interface Slab {
  /** The `ArrayBuffer` behind it may be longer, so that the C library maps it separately. */
  readonly bytes: Buffer<ArrayBuffer>
  readonly words: Int32Array
  readonly frames: Set<Frame>
  readonly free: number[] // stack of free frames' offsets
}

export interface Frame {
  slab: Slab | undefined // `undefined` if the frame has memory of its own
  bytes: Buffer
  start: number
  words: Int32Array // the memory of `bytes` as 32-bit integers; empty without a slab
  readBy: number // number of the latest list that returned bytes of this frame
}

const noWords = new Int32Array(0)

export class FramePool {
  readonly size: number // in bytes, a multiple of 4
  readonly slabs: Slab[] = []
  #slabBytes = 0
  #freeBytes = 0
  #ownBytes = 0
  #ownFrames = 0
  /** Number of the oldest open list. A frame read by it or a newer list must not be moved. */
  pinnedFrom = Number.POSITIVE_INFINITY

  constructor(size: number) {
    this.size = size
  }

  get bytesInUse(): number {
    return this.bytesHeld - this.#freeBytes
  }

  /** Size of all frames in bytes, in use or free. */
  get bytesHeld(): number {
    return this.#slabBytes + this.#ownBytes
  }

  /** Returns a free frame, which may be moved whenever another frame is released. @throws {RangeError} if no memory is left. */
  take(): Frame {
    const slab = this.#fullest() ?? this.#addSlab()
    const frame = { slab, bytes: slab.bytes, words: slab.words, start: 0, readBy: 0 }
    this.#put(frame, slab)
    return frame
  }

  /** Returns a frame that uses the given memory and is never moved. @throws {RangeError} if no memory is left for a copy. */
  takeOwn(given: Buffer): Frame {
    const isKept = this.#ownFrames < maxMappings || !isMapped(given)
    const bytes = isKept ? given : Buffer.allocUnsafeSlow(given.length)
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

  /** Moves a frame out of the emptiest slab, if the others have room for all of its frames. */
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
    const length = count * this.size
    if (wanted > firstSlab) requireAddresses(wanted)
    const memory = new ArrayBuffer(wanted === firstSlab ? length : Math.max(length, alwaysMapped))
    const bytes = Buffer.from(memory, 0, length)
    const words = new Int32Array(memory, 0, length / Int32Array.BYTES_PER_ELEMENT)
    // Low offsets are taken first, so that the system provides memory only as it's needed.
    const free = Array.from({ length: count }, (_, place) => (count - 1 - place) * this.size)
    const slab = { bytes, words, frames: new Set<Frame>(), free }
    this.slabs.push(slab)
    this.#slabBytes += length
    this.#freeBytes += length
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
