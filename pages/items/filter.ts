/** Which items are shown: by project, by their text, and by their members. @module */

import type { tests } from './search.js'

export interface Filter {
  /** Text to find in the JSON of items, ignoring case; empty for all items. */
  readonly query: string
  /** `undefined` for all items, `null` for those without a project. */
  readonly project: string | null | undefined
  /** All of them have to be met. */
  readonly conditions: readonly Condition[]
}

export interface Condition {
  readonly name: string
  readonly test: (typeof tests)[number]
  /**
   * What a string or the JSON text of another value contains, ignoring case; or what it is compared with: a JSON value, or
   * else what a string says. Empty for anything.
   */
  readonly value: string
}

export const everything: Filter = { query: '', project: undefined, conditions: [] }

export function matchesAll({ query, project, conditions }: Filter): boolean {
  return query === '' && project === undefined && !conditions.some(isComplete)
}

/** Whether a condition asks for anything yet. */
export function isComplete({ test, value }: Condition): boolean {
  return test === 'is absent' || value !== ''
}
