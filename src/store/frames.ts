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

/** A small store has small slabs; each new one is as large as all together, up to the largest. */
const firstSlab = 1024 * 1024

/** From 32 MiB on, glibc maps memory directly, whatever was freed before (mallopt(3)). */
const largestSlab = 32 * 1024 * 1024

interface Slab {
  readonly memory: ArrayBuffer
  /** How many of its frames are in use. */
  taken: number
}

/** A piece of memory with a count of those who use it. */
export interface Frame {
  readonly bytes: Buffer
  /** Where it was cut from; nowhere, if it has a size of its own. */
  readonly slab: Slab | undefined
  /** Its owner, and everyone who reads it and must not see it change. */
  users: number
}

export class FramePool {
  /** Bytes of a frame. */
  readonly size: number
  #slabs: Slab[] = []
  #free: Frame[] = []

  #ownBytes = 0

  constructor(size: number) {
    this.size = size
  }

  /** Bytes of the frames in use. */
  get bytesInUse(): number {
    return this.#slabs.reduce((sum, slab) => sum + slab.taken * this.size, this.#ownBytes)
  }

  /**
   * A frame with one user.
   * @param needed in bytes: the size of the pool's frames, or that of a frame of its own.
   * @throws {RangeError} when the system has no memory left.
   */
  take(needed: number): Frame {
    if (needed !== this.size) {
      const bytes = Buffer.allocUnsafeSlow(needed)
      this.#ownBytes += needed
      return { bytes, slab: undefined, users: 1 }
    }
    if (this.#free.length === 0) this.#addSlab()
    const frame = this.#free.pop() as Frame // a slab has at least one
    frame.users = 1
    if (frame.slab !== undefined) frame.slab.taken += 1
    return frame
  }

  /** Ends one use of a frame. */
  release(frame: Frame): void {
    const { slab, bytes } = frame
    frame.users -= 1
    if (frame.users > 0) return
    if (slab === undefined) {
      this.#ownBytes -= bytes.length
      return
    }
    this.#free.push(frame)
    slab.taken -= 1
    if (slab.taken === 0 && this.#slabs.length > 1) this.#dropSlab(slab)
  }

  #addSlab(): void {
    const held = this.#slabs.reduce((sum, slab) => sum + slab.memory.byteLength, 0)
    const count = Math.ceil(Math.min(Math.max(held, firstSlab), largestSlab) / this.size)
    const slab = { memory: new ArrayBuffer(count * this.size), taken: 0 }
    this.#slabs.push(slab)
    // The first frame comes off the list first, so that memory is touched only as it is needed.
    for (let start = slab.memory.byteLength - this.size; start >= 0; start -= this.size) {
      this.#free.push({ bytes: Buffer.from(slab.memory, start, this.size), slab, users: 0 })
    }
  }

  #dropSlab(slab: Slab): void {
    this.#slabs = this.#slabs.filter((other) => other !== slab)
    this.#free = this.#free.filter((frame) => frame.slab !== slab)
    // Moved to a new object that nobody keeps, the memory goes with the next scavenge. The old one
    // would wait for a collection of old objects, which may never come in a service that is idle.
    structuredClone(slab.memory, { transfer: [slab.memory] })
  }
}
