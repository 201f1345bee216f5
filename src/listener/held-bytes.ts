/** Limits the memory for pipelined requests that wait, on all connections of a listener together. @module */

/** A connection that may hold requests. */
export interface Holder {
  /** Memory for the requests that wait on this connection, in bytes. */
  readonly heldBytes: number
  /** Closes the connection and releases what it holds, before this returns. */
  giveUp(): void
}

export interface HeldBytes {
  /** Whether more than half of the limit is held. */
  readonly isCrowded: boolean
  /**
   * Has to be called whenever `heldBytes` of a holder has changed. Beyond the limit, it gives up holders until
   * the rest is within the limit again.
   * @param before what the holder held before the change, in bytes.
   */
  changed(holder: Holder, before: number): void
}

/** @param maxBytes what all holders together may hold. */
export function createHeldBytes(maxBytes: number): HeldBytes {
  /**
   * Holders by the number of binary digits of what they hold. So one that holds at least half as much as the
   * largest is found without a look at all of them.
   */
  const bySize = Array.from({ length: 33 }, () => new Set<Holder>())
  let total = 0

  function large(): Holder | undefined {
    const [holder] = bySize.findLast(({ size }) => size > 0) ?? []
    return holder
  }

  return {
    get isCrowded() {
      return total > maxBytes / 2
    },

    changed(holder, before) {
      const { heldBytes } = holder
      total += heldBytes - before
      const size = digits(heldBytes)
      if (size !== digits(before)) {
        bySize[digits(before)]?.delete(holder)
        if (size > 0) bySize[size]?.add(holder)
      }
      // A holder that is given up gets here too, with less than before.
      while (heldBytes > before && total > maxBytes) large()?.giveUp()
    },
  }
}

/** Number of binary digits; 0 for 0. */
function digits(bytes: number): number {
  return 32 - Math.clz32(bytes)
}
