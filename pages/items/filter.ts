/** The filter of the list: by project, by text, and by members. @module */

import type { tests } from './search.js'

export interface Filter {
  /** Text to find in the JSON of items, ignoring case; empty for all items. */
  readonly query: string
  /** Project of the shown items; `null` for items without a project, `undefined` for all items. */
  readonly project: string | null | undefined
  readonly conditions: readonly Condition[]
}

export interface Condition {
  readonly name: string | undefined
  readonly test: (typeof tests)[number]
  /** For `contains`, text to find. For comparisons, JSON or the content of a string. Empty text matches everything. */
  readonly value: string
}

/** A condition whose member has not been chosen yet. */
export const blank: Condition = { name: undefined, test: 'contains', value: '' }

export const everything: Filter = { query: '', project: undefined, conditions: [] }

export function matchesAll({ query, project, conditions }: Filter): boolean {
  return query === '' && project === undefined && !conditions.some(isComplete)
}

/** Conditions without a member, or without the value that their operator needs, are ignored. */
export function isComplete(condition: Condition): condition is Condition & { name: string } {
  const { name, test, value } = condition
  return name !== undefined && (test === 'is absent' || value !== '')
}
