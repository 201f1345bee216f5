/** Searches a list for the items that match a filter. @module */

import { type Condition, comparisons, type Filter, isComplete } from './filter.js'
import { type Item, memberText, projectOf } from './item.js'
import { compare, sortValue } from './sort.js'
import { plainText, tidied } from './values.js'
import type { Yield } from './yield.js'

export type Search = ReturnType<typeof createSearch>

export function createSearch(items: readonly Item[], filter: Filter) {
  const { project } = filter
  const hasQuery = createQuery(filter.query)
  const conditions = filter.conditions.filter(isComplete).map(createCheck)
  const isMatch = (item: Item) =>
    (project === undefined || projectOf(item) === project) &&
    hasQuery(item.text) &&
    conditions.every((check) => check(item))
  const matches: Item[] = []
  let seen = 0
  return {
    /** Items found so far, in list order. This array grows in place. */
    matches,
    /** Searches the rest of the items. An error thrown by `yieldIfDue` interrupts it. */
    async advance(yieldIfDue: Yield) {
      for (let item = items[seen]; item !== undefined; item = items[seen]) {
        seen += 1
        if (isMatch(item)) matches.push(item)
        await yieldIfDue()
      }
    },
  }
}

function createCheck({ name, test, value }: Condition & { name: string }): (item: Item) => boolean {
  if (test === 'is absent') return (item) => memberText(item, name) === undefined
  const isMet =
    test === 'contains' ? createContent(value) : createComparison(value, comparisons[test])
  return (item) => {
    const text = memberText(item, name)
    return text !== undefined && isMet(text)
  }
}

function createContent(value: string): (text: string) => boolean {
  const isMet = createQuery(value)
  return (text) => isMet(plainText(text))
}

/** Returns a comparison of JSON text with `value`, ignoring white space between tokens. */
function createComparison(value: string, isMet: (order: number) => boolean) {
  const json = isJson(value) ? value.trim() : JSON.stringify(value)
  const wanted = sortValue(tidied(json))
  return (text: string) => {
    const found = sortValue(tidied(text))
    return isMet(found.rank === wanted.rank ? compare(found, wanted) : Number.NaN)
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Returns a test for `query` in JSON text, as written or with escapes resolved, ignoring case. */
function createQuery(query: string): (text: string) => boolean {
  const escaped = query.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
  const expression = new RegExp(escaped, 'iu')
  return (text) =>
    expression.test(text) || (text.includes('\\') && expression.test(withoutEscapes(text)))
}

function withoutEscapes(text: string): string {
  return text.replaceAll(/\\(?:u[0-9a-fA-F]{4}|["\\/])/g, (written) =>
    String(JSON.parse(`"${written}"`)),
  )
}
