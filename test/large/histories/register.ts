/**
 * Whether a history of operations on one item is linearizable: whether each operation can be given one
 * moment between its call and its answer, so that all answers are those of a register that does one
 * operation at a time (Herlihy and Wing 1990). The search is Wing and Gong's, which remembers what it has
 * been through (Lowe 2017).
 */

/** What an item is: a value, or `undefined` where there is none. */
export type Value = number | undefined

export type Operation =
  | { readonly kind: 'read' }
  | { readonly kind: 'create' | 'replace'; readonly value: number }
  /** A replace if the value is the expected one (`If-Match`). */
  | { readonly kind: 'exchange'; readonly expected: number; readonly value: number }
  | { readonly kind: 'delete' }

/** What was answered: what was read, whether there was something to replace or delete, or that it is another value. */
export type Outcome =
  | { readonly kind: 'read'; readonly value: Value }
  | { readonly kind: 'change'; readonly isDone: boolean }
  | { readonly kind: 'mismatch' }

export interface Event {
  readonly operation: Operation
  /** `undefined` where the outcome is unknown: it may come about later, or never. */
  readonly outcome: Outcome | undefined
  /** Moments, of which no two are the same. */
  readonly called: number
  /** Infinity where the outcome is unknown. */
  readonly answered: number
}

/** @returns whether it is, for an item that does not exist before. */
export function isLinearizable(history: readonly Event[]): boolean {
  const events = history.toSorted((a, b) => a.called - b.called)
  const been = new Set<string>()

  /** @param rest places in `events` of what has had no moment yet, in order. */
  function canGoOn(rest: readonly number[], value: Value): boolean {
    // What has no answer need not have happened.
    const end = Math.min(
      ...rest.map((place) => events[place]?.answered ?? Number.POSITIVE_INFINITY),
    )
    if (end === Number.POSITIVE_INFINITY) return true
    const key = `${value}:${rest.join()}`
    if (been.has(key)) return false
    been.add(key)
    for (const [n, place] of rest.entries()) {
      const event = events[place]
      // Another one was answered before this one and all later ones were called.
      if (event === undefined || event.called > end) return false
      const next = valueAfter(event, value)
      if (next !== 'impossible' && canGoOn(rest.toSpliced(n, 1), next.value)) return true
    }
    return false
  }

  return canGoOn([...events.keys()], undefined)
}

/** What the item is once the operation has had its moment; impossible where the answer is another one. */
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
