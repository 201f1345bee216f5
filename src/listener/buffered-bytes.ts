/** A limit on memory that many holders share. @module */

export interface Holder {
  readonly bufferedBytes: number
  /** Must set `bufferedBytes` to 0 before returning, for example by closing a connection. */
  giveUp(): void
}

export class BufferedBytes {
  readonly #maxBytes: number
  /** Holders by the bit length of `bufferedBytes`, so that the one that has had many bytes the longest is found quickly. */
  readonly #bySize = Array.from({ length: 54 }, () => new Set<Holder>())
  /** Sum of `bufferedBytes` of all holders. */
  total = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Must be called after each change to `bufferedBytes`. Above the limit, those who have the most must give it up. */
  changed(holder: Holder, before: number): void {
    const { bufferedBytes } = holder
    this.total += bufferedBytes - before
    const size = binaryDigits(bufferedBytes)
    if (size !== binaryDigits(before)) {
      this.#bySize[binaryDigits(before)]?.delete(holder)
      if (size > 0) this.#bySize[size]?.add(holder)
    }
    // Only an increase has consequences, because `giveUp` causes a decrease and thus a call to this method.
    while (bufferedBytes > before && this.total > this.#maxBytes) {
      const [large] = this.#bySize.findLast(({ size }) => size > 0) ?? []
      large?.giveUp()
    }
  }
}

function binaryDigits(number: number): number {
  return number === 0 ? 0 : Math.floor(Math.log2(number)) + 1
}
