/**
 * Checks whether a history of operations on one item is linearizable (Herlihy and Wing 1990). In a linearizable
 * history, each operation appears to take effect at one moment between its call and its response. The algorithm is by
 * Wing and Gong, with Lowe's extension (2017): states that were already searched are remembered.
 */

/** The value of an item; `undefined` if the item does not exist. */
export type Value = number | undefined

export type Operation =
  | { readonly kind: 'read' }
  | { readonly kind: 'create' | 'replace'; readonly value: number }
  /** A conditional replace (`If-Match`), which takes effect only if the item has the expected value. */
  | { readonly kind: 'exchange'; readonly expected: number; readonly value: number }
  | { readonly kind: 'delete' }

/** The outcome of an operation: the value that was read, whether a change was made, or an unmet condition. */
export type Outcome =
  | { readonly kind: 'read'; readonly value: Value }
  | { readonly kind: 'change'; readonly isDone: boolean }
  | { readonly kind: 'mismatch' }

export interface Event {
  readonly operation: Operation
  /**
   * The outcome; `undefined` if it is unknown. An operation with an unknown outcome may take effect later, or never.
   */
  readonly outcome: Outcome | undefined
  /** Logical time of the call. No other call or response has the same time. */
  readonly called: number
  /** Logical time of the response; infinity if the outcome is unknown. */
  readonly answered: number
}

/** Returns whether a history is linearizable. The item does not exist before its first operation. */
export function isLinearizable(history: readonly Event[]): boolean {
  const events = history.toSorted((a, b) => a.called - b.called)
  const been = new Set<string>()

  /**
   * Returns whether the remaining operations are possible in some order.
   * @param rest indexes of these operations, sorted.
   */
  function canGoOn(rest: readonly number[], value: Value): boolean {
    // If all remaining outcomes are unknown, the history is linearizable: perhaps none of these operations took effect.
    const end = Math.min(
      ...rest.map((place) => events[place]?.answered ?? Number.POSITIVE_INFINITY),
    )
    if (end === Number.POSITIVE_INFINITY) return true
    const key = `${value}:${rest.join()}`
    if (been.has(key)) return false
    been.add(key)
    for (const [n, place] of rest.entries()) {
      const event = events[place]
      // This operation and all later ones began after another remaining operation had ended, so none of them can be
      // next.
      if (event === undefined || event.called > end) return false
      const next = valueAfter(event, value)
      if (next !== 'impossible' && canGoOn(rest.toSpliced(n, 1), next.value)) return true
    }
    return false
  }

  return canGoOn([...events.keys()], undefined)
}

/** Returns the value of the item after an operation, or `impossible` if the outcome contradicts the value before. */
function valueAfter({ operation, outcome }: Event, value: Value): { value: Value } | 'impossible' {
  if (operation.kind === 'read') {
    const isRight = outcome === undefined || (outcome.kind === 'read' && outcome.value === value)
    return isRight ? { value } : 'impossible'
  }
  if (operation.kind === 'exchange' && value !== undefined && value !== operation.expected) {
    return outcome === undefined || outcome.kind === 'mismatch' ? { value } : 'impossible'
  }
  const isDone = operation.kind === 'create' ? value === undefined : value !== undefined
  if (outcome !== undefined && (outcome.kind !== 'change' || outcome.isDone !== isDone)) {
    return 'impossible'
  }
  if (!isDone) return { value }
  return { value: operation.kind === 'delete' ? undefined : operation.value }
}
