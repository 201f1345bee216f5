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

/** The slabs are made fewer when this part of all frames would still be free afterwards. */
const spare = 1 / 8

interface Slab {
  readonly memory: ArrayBuffer
  readonly used: Set<Frame>
  readonly free: Frame[]
}

/** A piece of memory, in use as long as it has an owner or a reader. */
export interface Frame {
  /** While nobody is a reader, every release of a frame may put the bytes of others elsewhere. */
  bytes: Buffer
  /** Where it was cut from; nowhere, if it has a size of its own. */
  slab: Slab | undefined
  isOwned: boolean
  /** How many there are for whom the bytes must stay as and where they are. */
  readers: number
}

export class FramePool {
  /** Bytes of a frame. */
  readonly size: number
  #slabs: Slab[] = []
  #ownBytes = 0

  constructor(size: number) {
    this.size = size
  }

  /** Bytes of the frames in use. */
  get bytesInUse(): number {
    return this.#slabs.reduce((sum, { used }) => sum + used.size * this.size, this.#ownBytes)
  }

  /** Bytes that are held, for frames in use and free ones. */
  get bytesHeld(): number {
    return this.#slabs.reduce((sum, { memory }) => sum + memory.byteLength, this.#ownBytes)
  }

  /**
   * A frame for an owner.
   * @param needed in bytes: the size of the pool's frames, or that of a frame of its own.
   * @throws {RangeError} when the system has no memory left.
   */
  take(needed: number): Frame {
    if (needed !== this.size) {
      const bytes = Buffer.allocUnsafeSlow(needed)
      this.#ownBytes += needed
      return { bytes, slab: undefined, isOwned: true, readers: 0 }
    }
    const slab = fullestWithRoom(this.#slabs) ?? this.#addSlab()
    const frame = slab.free.pop() as Frame // there is room
    slab.used.add(frame)
    frame.isOwned = true
    return frame
  }

  /** Ends the use of a frame by its owner. */
  release(frame: Frame): void {
    frame.isOwned = false
    this.#freeUnused(frame)
    this.#compact()
    this.#dropEmpty()
  }

  /** Ends the use of frames by one reader. */
  releaseReaders(frames: readonly Frame[]): void {
    for (const frame of frames) {
      frame.readers -= 1
      this.#freeUnused(frame)
    }
    this.#dropEmpty()
  }

  #freeUnused(frame: Frame): void {
    const { slab, bytes, isOwned, readers } = frame
    if (isOwned || readers > 0) return
    if (slab === undefined) {
      this.#ownBytes -= bytes.length
      return
    }
    slab.used.delete(frame)
    slab.free.push(frame)
  }

  #addSlab(): Slab {
    const held = this.bytesHeld - this.#ownBytes
    const count = Math.ceil(Math.min(Math.max(held, firstSlab), largestSlab) / this.size)
    const memory = new ArrayBuffer(count * this.size)
    const slab: Slab = { memory, used: new Set(), free: [] }
    this.#slabs.push(slab)
    // The first frame comes off the list first, so that memory is touched only as it is needed.
    for (let start = memory.byteLength - this.size; start >= 0; start -= this.size) {
      slab.free.push({
        bytes: Buffer.from(memory, start, this.size),
        slab,
        isOwned: false,
        readers: 0,
      })
    }
    return slab
  }

  /**
   * Moves two frames from the emptiest slab to others, if they have room for all of it. At two for
   * each frame that its owner releases, this keeps up with the deleting of all that nobody reads.
   */
  #compact(): void {
    if (this.#slabs.length < 2) return
    const emptiest = this.#slabs.reduce((one, other) => (fill(other) < fill(one) ? other : one))
    const others = this.#slabs.filter((slab) => slab !== emptiest)
    const room = others.reduce((sum, { free }) => sum + free.length, 0)
    const frames = others.reduce((sum, { used }) => sum + used.size, room)
    if (room - emptiest.used.size < frames * spare) return
    let moves = 2
    for (const frame of emptiest.used) {
      if (frame.readers > 0) continue
      const slab = fullestWithRoom(others)
      if (moves === 0 || slab === undefined) break
      move(frame, slab)
      moves -= 1
    }
  }

  /** Gives the memory of slabs without a frame in use back, but for one slab. */
  #dropEmpty(): void {
    for (const slab of this.#slabs) {
      if (slab.used.size > 0 || this.#slabs.length === 1) continue
      this.#slabs = this.#slabs.filter((other) => other !== slab)
      // Moved to a new object that nobody keeps, the memory goes with the next scavenge. The old one
      // would wait for a collection of old objects, which may never come in a service that is idle.
      structuredClone(slab.memory, { transfer: [slab.memory] })
    }
  }
}

/** The part of a slab that is in use. */
function fill({ used, free }: Slab): number {
  return used.size / (used.size + free.length)
}

function fullestWithRoom(slabs: readonly Slab[]): Slab | undefined {
  let fullest: Slab | undefined
  for (const slab of slabs) {
    if (slab.free.length === 0) continue
    if (fullest === undefined || fill(slab) > fill(fullest)) fullest = slab
  }
  return fullest
}

/** Puts the bytes of a frame in the place of a free one of another slab, and that in its own. */
function move(frame: Frame, slab: Slab): void {
  const target = slab.free.pop()
  const { bytes, slab: source } = frame
  if (target === undefined || source === undefined) return
  target.bytes.set(bytes)
  frame.bytes = target.bytes
  frame.slab = slab
  target.bytes = bytes
  target.slab = source
  source.used.delete(frame)
  source.free.push(target)
  slab.used.add(frame)
}
