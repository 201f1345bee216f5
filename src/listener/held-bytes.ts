/** The memory limit for the input that all connections hold until they can serve it. @module */

export interface Holder {
  readonly heldBytes: number
  /** Closes the connection. Must release the connection's memory before returning. */
  giveUp(): void
}

export class HeldBytes {
  readonly #maxBytes: number
  /** Connections, indexed by the bit length of `heldBytes`, so that a connection with many bytes is found quickly. */
  readonly #bySize = Array.from({ length: 33 }, () => new Set<Holder>())
  /** Sum of `heldBytes` of all connections. */
  total = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Must be called after each change to `heldBytes`. Above the limit, closes the connections that hold the most. */
  changed(holder: Holder, before: number): void {
    const { heldBytes } = holder
    this.total += heldBytes - before
    const size = binaryDigits(heldBytes)
    if (size !== binaryDigits(before)) {
      this.#bySize[binaryDigits(before)]?.delete(holder)
      if (size > 0) this.#bySize[size]?.add(holder)
    }
    // Only an increase closes connections, because `giveUp` causes a decrease and thus a call to this method.
    while (heldBytes > before && this.total > this.#maxBytes) {
      const [large] = this.#bySize.findLast(({ size }) => size > 0) ?? []
      large?.giveUp()
    }
  }
}

function binaryDigits(number: number): number {
  return 32 - Math.clz32(number)
}
