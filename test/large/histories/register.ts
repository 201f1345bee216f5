/** Checks that a history is linearizable (Wing and Gong 1993, Lowe 2017). */

import assert from 'node:assert/strict'

export type Value = number | undefined // of an item; `undefined` if it doesn't exist

export type Operation =
  | { readonly kind: 'read' }
  | { readonly kind: 'create' | 'replace'; readonly value: number }
  /** A replace that succeeds only if the item has the expected value (`If-Match`). */
  | { readonly kind: 'exchange'; readonly expected: number; readonly value: number }
  | { readonly kind: 'delete' }

export type Outcome =
  | { readonly kind: 'read'; readonly value: Value }
  | { readonly kind: 'change'; readonly isDone: boolean }
  | { readonly kind: 'mismatch' }

export interface Event {
  readonly operation: Operation
  /** `undefined` if it's unknown: the operation may take effect later, or never. */
  readonly outcome: Outcome | undefined
  readonly called: number // logical time, unique among calls and responses
  readonly answered: number // logical time; infinite if the outcome is unknown
}

/** @param history all operations on one item, beginning before it exists. */
export function isLinearizable(history: readonly Event[]): boolean {
  const events = history.toSorted((a, b) => a.called - b.called)
  const been = new Set<string>()

  /** True if the remaining operations are possible in some order. @param rest their sorted indexes in `events`. */
  function canGoOn(rest: readonly number[], value: Value): boolean {
    // Time of the earliest response to a remaining operation; infinite if there is none.
    const end = Math.min(...rest.map((place) => events[place]?.answered ?? assert.fail()))
    if (end === Number.POSITIVE_INFINITY) return true
    const key = `${value}:${rest.join()}`
    if (been.has(key)) return false
    been.add(key)
    for (const [n, place] of rest.entries()) {
      const event = events[place]
      // Another remaining operation ended before this one was called, so neither this nor a later one can be next.
      if (event === undefined || event.called > end) return false
      const next = valueAfter(event, value)
      if (next !== 'impossible' && canGoOn(rest.toSpliced(n, 1), next.value)) return true
    }
    return false
  }

  return canGoOn([...events.keys()], undefined)
}

/** Returns the item's value after an event, or `impossible` if the event's outcome contradicts `value`. */
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
