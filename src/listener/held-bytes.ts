/** A limit on memory that many holders share. @module */

export interface Holder {
  readonly heldBytes: number
  /** Must set `heldBytes` to 0 before returning, for example by closing a connection. */
  giveUp(): void
}

export class HeldBytes {
  readonly #maxBytes: number
  /** Holders by the bit length of `heldBytes`, so that the one that has held many bytes the longest is found quickly. */
  readonly #bySize = Array.from({ length: 54 }, () => new Set<Holder>())
  /** Sum of `heldBytes` of all holders. */
  total = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Must be called after each change to `heldBytes`. Above the limit, those who hold the most have to give it up. */
  changed(holder: Holder, before: number): void {
    const { heldBytes } = holder
    this.total += heldBytes - before
    const size = binaryDigits(heldBytes)
    if (size !== binaryDigits(before)) {
      this.#bySize[binaryDigits(before)]?.delete(holder)
      if (size > 0) this.#bySize[size]?.add(holder)
    }
    // Only an increase has consequences, because `giveUp` causes a decrease and thus a call to this method.
    while (heldBytes > before && this.total > this.#maxBytes) {
      const [large] = this.#bySize.findLast(({ size }) => size > 0) ?? []
      large?.giveUp()
    }
  }
}

function binaryDigits(number: number): number {
  return number === 0 ? 0 : Math.floor(Math.log2(number)) + 1
}
