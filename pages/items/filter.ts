/** The filter of the list: by project, by text, and by members. @module */

import type { tests } from './search.js'

export interface Filter {
  /** Text to find in the JSON of items, ignoring case. Empty text finds all items. */
  readonly query: string
  /** Project of the items; `null` for items without a project, `undefined` for all items. */
  readonly project: string | null | undefined
  readonly conditions: readonly Condition[]
}

export interface Condition {
  readonly name: string | undefined
  readonly test: (typeof tests)[number]
  /** With `contains`, the text to find. Otherwise, JSON or a string without quotes. Empty text matches everything. */
  readonly value: string
}

export const blank: Condition = { name: undefined, test: 'contains', value: '' }

export const everything: Filter = { query: '', project: undefined, conditions: [] }

export function matchesAll({ query, project, conditions }: Filter): boolean {
  return query === '' && project === undefined && !conditions.some(isComplete)
}

/** A condition without a member, or without the value that its operator needs, is ignored. */
export function isComplete(condition: Condition): condition is Condition & { name: string } {
  const { name, test, value } = condition
  return name !== undefined && (test === 'is absent' || value !== '')
}
