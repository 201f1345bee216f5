/**
 * Whether a history of operations on one item is linearizable: whether each operation can be given one
 * moment between its call and its answer, so that all answers are those of a register that does one
 * operation at a time (Herlihy and Wing 1990). The search is Wing and Gong's, which remembers what it has
 * been through (Lowe 2017).
 */

/** The value of an item; `undefined` if there is no item. */
export type Value = number | undefined

export type Operation =
  | { readonly kind: 'read' }
  | { readonly kind: 'create' | 'replace'; readonly value: number }
  /** A replace if the value is the expected one (`If-Match`). */
  | { readonly kind: 'exchange'; readonly expected: number; readonly value: number }
  | { readonly kind: 'delete' }

/** The response: the value read, whether there was an item to change, or that the item has another value. */
export type Outcome =
  | { readonly kind: 'read'; readonly value: Value }
  | { readonly kind: 'change'; readonly isDone: boolean }
  | { readonly kind: 'mismatch' }

export interface Event {
  readonly operation: Operation
  /** `undefined` if the outcome is unknown: the operation may take effect later, or never. */
  readonly outcome: Outcome | undefined
  /** Times of call and response. No two times are equal. */
  readonly called: number
  /** Infinity if the outcome is unknown. */
  readonly answered: number
}

/** Whether a history is linearizable. The item does not exist before its first operation. */
export function isLinearizable(history: readonly Event[]): boolean {
  const events = history.toSorted((a, b) => a.called - b.called)
  const been = new Set<string>()

  /** @param rest indexes in `events` of the operations without a moment so far, in order. */
  function canGoOn(rest: readonly number[], value: Value): boolean {
    // An operation without a response need not have happened.
    const end = Math.min(
      ...rest.map((place) => events[place]?.answered ?? Number.POSITIVE_INFINITY),
    )
    if (end === Number.POSITIVE_INFINITY) return true
    const key = `${value}:${rest.join()}`
    if (been.has(key)) return false
    been.add(key)
    for (const [n, place] of rest.entries()) {
      const event = events[place]
      // An earlier operation got its response before this one, and all later ones, were called.
      if (event === undefined || event.called > end) return false
      const next = valueAfter(event, value)
      if (next !== 'impossible' && canGoOn(rest.toSpliced(n, 1), next.value)) return true
    }
    return false
  }

  return canGoOn([...events.keys()], undefined)
}

/** Returns the value of the item after the operation, or that its response was impossible. */
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
