/**
 * Frames: pieces of memory outside of the JavaScript heap, all of one size, taken and given back
 * without waiting for the garbage collector.
 *
 * They are cut from slabs so large that the system's allocator maps each on its own and takes it
 * back whole. Allocated one by one, or in sizes of their own, they leave it full of holes after churn
 * (bench/CHOICES.md).
 *
 * @module
 */

import { allocate } from './allocate.js'

/** A small store has small slabs; each new one is as large as all together, up to the largest. */
const firstSlab = 1024 * 1024

/** From 32 MiB on, glibc maps memory directly, whatever was freed before (mallopt(3)). */
const largestSlab = 32 * 1024 * 1024

/** A slab is drained if this part of the others is still free afterwards. */
const spare = 1 / 8

/**
 * Frames moved for each that is released, and places of the slab looked at for them. Two moves keep
 * up with a client that deletes everything.
 */
const moves = 2
const looks = 64

export interface Slab {
  readonly memory: ArrayBuffer
  readonly bytes: Buffer
  readonly words: Int32Array
  /** The frames in use, by their place in the slab. */
  readonly frames: (Frame | undefined)[]
  /** The places that are free: a stack of `freeCount`. */
  readonly free: Uint32Array
  freeCount: number
}

/** A piece of memory in use. */
export interface Frame {
  /** `undefined` for a frame with memory of its own. */
  slab: Slab | undefined
  /** The memory that the frame is in, and the place of its first byte there. */
  bytes: Buffer
  start: number
  /** The same memory as words, for the table of a page; empty for a frame with memory of its own. */
  words: Int32Array
  /** How many versions have their bytes here. */
  users: number
  /** The moment of the newest list that was given the bytes. */
  readBy: number
}

const noWords = new Int32Array(0)

export class FramePool {
  /** Bytes of a frame, a multiple of 4. */
  readonly size: number
  readonly slabs: Slab[] = []
  /** Those with a free frame, but for the one that is drained. */
  readonly roomy: Slab[] = []
  /** The slab whose frames move to others, and where to look for the next one. */
  draining: Slab | undefined
  #cursor = 0
  /** How many frames were released since the slabs were looked at for one to drain. */
  #releases = 0
  /** Bytes of all slabs, of what is free there, and of frames with memory of their own. */
  #slabBytes = 0
  #freeBytes = 0
  #ownBytes = 0
  /** What was given to a list of this moment or a later one stays where it is. */
  pinnedFrom = Number.POSITIVE_INFINITY

  constructor(size: number) {
    this.size = size
  }

  /** Bytes of the frames in use. */
  get bytesInUse(): number {
    return this.bytesHeld - this.#freeBytes
  }

  /** Bytes that are held, for frames in use and free ones. */
  get bytesHeld(): number {
    return this.#slabBytes + this.#ownBytes
  }

  /**
   * A frame for one user. Its bytes may be moved whenever another frame is released.
   * @param bytes for a frame with memory of its own, which is never moved.
   * @throws {StoreError} `STORE_FULL` when the system has no memory left.
   */
  take(bytes?: number): Frame {
    if (bytes !== undefined) {
      const own = allocate(() => Buffer.allocUnsafeSlow(bytes))
      this.#ownBytes += bytes
      return { slab: undefined, bytes: own, start: 0, words: noWords, users: 1, readBy: 0 }
    }
    const slab = this.roomy.at(-1) ?? this.#stopDraining() ?? this.#addSlab()
    const frame = { slab, bytes: slab.bytes, start: 0, words: slab.words, users: 1, readBy: 0 }
    this.#put(frame, slab)
    return frame
  }

  /** Ends the use of a frame by one of its users. */
  release(frame: Frame): void {
    frame.users -= 1
    if (frame.users > 0) return
    if (frame.slab === undefined) {
      this.#ownBytes -= frame.bytes.length
      return
    }
    this.#clear(frame.slab, frame.start / this.size)
    this.#compact()
  }

  /** Gives a frame a place in the last of the slabs with room. */
  #put(frame: Frame, slab: Slab): void {
    slab.freeCount -= 1
    const place = slab.free[slab.freeCount] as number // there is room
    slab.frames[place] = frame
    frame.slab = slab
    frame.bytes = slab.bytes
    frame.words = slab.words
    frame.start = place * this.size
    this.#freeBytes -= this.size
    if (slab.freeCount === 0) this.roomy.pop()
  }

  /** Frees a place, and gives the memory of a slab without a frame in use back, but for one slab. */
  #clear(slab: Slab, place: number): void {
    slab.frames[place] = undefined
    slab.free[slab.freeCount] = place
    slab.freeCount += 1
    this.#freeBytes += this.size
    if (slab.freeCount === 1 && slab !== this.draining) this.roomy.push(slab)
    if (slab.freeCount === slab.free.length && this.slabs.length > 1) this.#drop(slab)
  }

  #addSlab(): Slab {
    const bytes = Math.min(Math.max(this.#slabBytes, firstSlab), largestSlab)
    const count = Math.ceil(bytes / this.size)
    const slab = allocate(() => {
      const memory = new ArrayBuffer(count * this.size)
      return {
        memory,
        bytes: Buffer.from(memory),
        words: new Int32Array(memory),
        frames: new Array<Frame | undefined>(count).fill(undefined),
        free: new Uint32Array(count),
        freeCount: count,
      }
    })
    // The first place comes off the stack first, so that memory is touched only as it is needed.
    for (let place = 0; place < count; place += 1) slab.free[count - 1 - place] = place
    this.slabs.push(slab)
    this.roomy.push(slab)
    this.#slabBytes += slab.memory.byteLength
    this.#freeBytes += slab.memory.byteLength
    return slab
  }

  #drop(slab: Slab): void {
    if (slab === this.draining) this.draining = undefined
    else this.roomy.splice(this.roomy.indexOf(slab), 1)
    this.slabs.splice(this.slabs.indexOf(slab), 1)
    this.#slabBytes -= slab.memory.byteLength
    this.#freeBytes -= slab.memory.byteLength
    // Moved to a new object that nobody keeps, the memory goes with the next scavenge. The old one
    // would wait for a collection of old objects, which may never come in a service that is idle.
    structuredClone(slab.memory, { transfer: [slab.memory] })
  }

  /** Moves a few frames out of the slab that is being drained, so that its memory can be given back. */
  #compact(): void {
    if (this.draining === undefined) this.#startDraining()
    let moved = 0
    for (let look = 0; look < looks && moved < moves; look += 1) {
      const source = this.draining
      if (source === undefined) return
      const target = this.roomy.at(-1)
      if (target === undefined) {
        this.#stopDraining()
        return
      }
      this.#cursor = (this.#cursor + 1) % source.frames.length
      const frame = source.frames[this.#cursor]
      if (frame === undefined || frame.readBy >= this.pinnedFrom) continue
      const { start } = frame
      this.#put(frame, target)
      target.bytes.set(source.bytes.subarray(start, start + this.size), frame.start)
      this.#clear(source, start / this.size)
      moved += 1
    }
  }

  /** Chooses the emptiest slab, if the others have room for all of it and more. */
  #startDraining(): void {
    this.#releases += 1
    // A look at all slabs is a few steps for each release, however many there are.
    if (this.slabs.length < 2 || this.#releases * 16 < this.slabs.length) return
    this.#releases = 0
    const slab = this.slabs.reduce((one, other) => (fill(other) < fill(one) ? other : one))
    const { byteLength } = slab.memory
    if (this.#freeBytes - byteLength < (this.#slabBytes - byteLength) * spare) return
    this.draining = slab
    const place = this.roomy.indexOf(slab)
    if (place >= 0) this.roomy.splice(place, 1)
  }

  /** Makes the slab that is being drained one like the others again. */
  #stopDraining(): Slab | undefined {
    const slab = this.draining
    this.draining = undefined
    if (slab !== undefined) this.roomy.push(slab) // it had room when it was chosen, and has more now
    return slab
  }
}

/** The part of a slab that is in use. */
function fill({ free, freeCount }: Slab): number {
  return 1 - freeCount / free.length
}
