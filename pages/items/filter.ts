/** Which items are shown: those of a project, with a text that contains what is searched for. @module */

import { type Item, projectOf } from './item.js'
import type { Yield } from './yield.js'

export interface Filter {
  /** Text to find in the JSON of items, ignoring case; empty for all items. */
  readonly query: string
  /** `undefined` for all items, `null` for those without a project. */
  readonly project: string | null | undefined
}

/** The filter that matches every item. */
export const everything: Filter = { query: '', project: undefined }

/** Whether a filter matches every item. */
export function matchesAll({ query, project }: Filter): boolean {
  return query === '' && project === undefined
}

/** A search through a list that may still grow. */
export interface Search {
  /** What has been found so far, in the order of the list; grows in place. */
  readonly matches: readonly Item[]
  /**
   * Searches the items that have not been searched yet. If it is interrupted, the next call resumes.
   * @param yieldIfDue awaited after each item; it interrupts the search by throwing.
   */
  advance(yieldIfDue: Yield): Promise<void>
}

export function createSearch(items: readonly Item[], filter: Filter): Search {
  const { project } = filter
  const hasQuery = createQuery(filter.query)
  const matches: Item[] = []
  let seen = 0
  return {
    matches,
    async advance(yieldIfDue) {
      for (let item = items[seen]; item !== undefined; item = items[seen]) {
        seen += 1
        if ((project === undefined || projectOf(item) === project) && hasQuery(item.text)) {
          matches.push(item)
        }
        await yieldIfDue()
      }
    },
  }
}

/** Finds text both as it is written and with its escapes resolved. */
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
