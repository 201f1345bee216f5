/** The filter of the list: by project, by text, and by members. @module */

import type { tests } from './search.js'

export interface Filter {
  /** Text to find in the JSON of items, ignoring case; empty for all items. */
  readonly query: string
  /** Project of the items to show; `null` for items without a project, `undefined` for all items. */
  readonly project: string | null | undefined
  /** Conditions, all of which an item must meet. */
  readonly conditions: readonly Condition[]
}

export interface Condition {
  /** Name of the member; `undefined` until it is chosen. */
  readonly name: string | undefined
  readonly test: (typeof tests)[number]
  /**
   * For `contains`, text to find in a string or in the JSON text of another value, ignoring case. For comparisons, a
   * JSON value, or else the content of a string. An empty text matches everything.
   */
  readonly value: string
}

/** A condition without a member yet. */
export const blank: Condition = { name: undefined, test: 'contains', value: '' }

export const everything: Filter = { query: '', project: undefined, conditions: [] }

export function matchesAll({ query, project, conditions }: Filter): boolean {
  return query === '' && project === undefined && !conditions.some(isComplete)
}

/**
 * Whether a condition names a member and, if its operator needs a value, has one. Incomplete conditions are ignored.
 */
export function isComplete(condition: Condition): condition is Condition & { name: string } {
  const { name, test, value } = condition
  return name !== undefined && (test === 'is absent' || value !== '')
}
