/** A limit on memory that many holders share. @module */

export interface Holder {
  readonly bufferedBytes: number
  /** Must set `bufferedBytes` to 0 before returning, for example by closing a connection. */
  giveUp(): void
}

export class BufferedBytes {
  readonly #maxBytes: number
  /** Holders by the bit length of `bufferedBytes`. In the set of the largest, the oldest entry gives up first. */
  readonly #bySize = Array.from({ length: 54 }, () => new Set<Holder>())
  total = 0 // bytes of all holders

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Call it after each change to a holder's `bufferedBytes`. Above the limit, it makes the largest holders give up. */
  changed(holder: Holder, before: number): void {
    const { bufferedBytes } = holder
    this.total += bufferedBytes - before
    const size = binaryDigits(bufferedBytes)
    if (size !== binaryDigits(before)) {
      this.#bySize[binaryDigits(before)]?.delete(holder)
      if (size > 0) this.#bySize[size]?.add(holder)
    }
    // Only an increase can exceed the limit. `giveUp` calls this method again, with a decrease.
    while (bufferedBytes > before && this.total > this.#maxBytes) {
      const [large] = this.#bySize.findLast(({ size }) => size > 0) ?? []
      large?.giveUp()
    }
  }
}

function binaryDigits(number: number): number {
  return number === 0 ? 0 : Math.floor(Math.log2(number)) + 1
}
