/** Filters the list by project, by text, and by conditions on members. @module */

/** `order` is negative, zero or positive, or `NaN` for values of different types. */
export const comparisons = {
  equals: (order) => order === 0,
  'does not equal': (order) => order !== 0,
  'is less than': (order) => order < 0,
  'is at most': (order) => order <= 0,
  'is greater than': (order) => order > 0,
  'is at least': (order) => order >= 0,
} satisfies Record<string, (order: number) => boolean>

type Comparison = keyof typeof comparisons

export const tests = [
  'contains',
  ...(Object.keys(comparisons) as Comparison[]), // these are exactly the keys of `comparisons`
  'is absent',
] as const

export interface Filter {
  /** Text to find in the JSON of items, ignoring case. An empty one matches all items. */
  readonly query: string
  /** Project to match; `null` for items without one, `undefined` for all items. */
  readonly project: string | null | undefined
  readonly conditions: readonly Condition[]
}

export interface Condition {
  readonly name: string | undefined
  readonly test: (typeof tests)[number]
  /** With `contains`, text to find; otherwise a JSON value, or a string without quotes. */
  readonly value: string
}

export const blank: Condition = { name: undefined, test: 'contains', value: '' }

export const everything: Filter = { query: '', project: undefined, conditions: [] }

export function matchesAll({ query, project, conditions }: Filter): boolean {
  return query === '' && project === undefined && !conditions.some(isComplete)
}

/** True for a condition with a member, and the value that its operator needs. All others are ignored. */
export function isComplete(condition: Condition): condition is Condition & { name: string } {
  const { name, test, value } = condition
  return name !== undefined && (test === 'is absent' || value !== '')
}
