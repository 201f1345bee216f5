/** Memory that is kept only until clients have read it. @module */

import type { BufferedBytes, Holder } from './buffered-bytes.js'
import { setImmediate } from './timers.js'

/** Ends a read and frees its memory. Must not throw. @param bufferedBytes bytes that the memory counted before. */
type Cut = (bufferedBytes: number) => void

const cutPerTurn = 64 // per turn of the event loop; closing a connection takes 20 µs

export class ReadMemory implements Holder {
  #bytes: number
  #limit: BufferedBytes | undefined
  #readers: Map<object, Cut> | undefined

  constructor(bytes = 0) {
    this.#bytes = bytes
  }

  /** Bytes that count against the limit; none without readers. */
  get bufferedBytes(): number {
    return this.#limit === undefined ? 0 : this.#bytes
  }

  change(bytes: number): void {
    const before = this.bufferedBytes
    this.#bytes += bytes
    this.#limit?.changed(this, before)
  }

  /** Adds a reader. If the memory is given up, `cut` ends its read. Returns `false` if it was added before. */
  addReader(reader: object, limit: BufferedBytes, cut: Cut): boolean {
    this.#readers ??= new Map()
    if (this.#readers.has(reader)) return false
    this.#readers.set(reader, cut)
    this.#countFor(limit)
    return true
  }

  removeReader(reader: object): void {
    if (this.#readers?.delete(reader) && this.#readers.size === 0) this.#countFor(undefined)
  }

  /** Cuts all readers: the first ones before the call returns, the others in later turns of the event loop. */
  giveUp(): void {
    const { bufferedBytes } = this
    const cuts = [...(this.#readers?.values() ?? [])]
    this.#readers = undefined
    this.#countFor(undefined)
    cutAll(cuts, bufferedBytes)
  }

  #countFor(limit: BufferedBytes | undefined): void {
    const [before, counted] = [this.bufferedBytes, limit ?? this.#limit]
    this.#limit = limit
    counted?.changed(this, before)
  }
}

/** Makes the first cuts at once, and the others in later turns of the event loop. */
function cutAll(cuts: Cut[], bufferedBytes: number): void {
  for (const cut of cuts.splice(0, cutPerTurn)) cut(bufferedBytes)
  if (cuts.length > 0) setImmediate(() => cutAll(cuts, bufferedBytes))
}

const memories = new WeakMap<Uint8Array, ReadMemory>()

/** Returns the memory of a buffer. It counts the buffer's length, but nothing while a store keeps it anyway. */
export function memoryOf(bytes: Uint8Array): ReadMemory {
  const memory = memories.get(bytes) ?? new ReadMemory(bytes.length)
  memories.set(bytes, memory)
  return memory
}
