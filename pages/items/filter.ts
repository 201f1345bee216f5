/** Which items are shown: those of a project, and those whose text has what is searched for. @module */

import { type Item, projectOf } from './item.js'
import type { Pace } from './pace.js'

export interface Filter {
  /** Found in an item's JSON text in any letter case; empty for all items. */
  readonly query: string
  /** `undefined` for all items, `null` for those without a project. */
  readonly project: string | null | undefined
}

/** Whether a filter lets everything through. */
export function isOpen({ query, project }: Filter): boolean {
  return query === '' && project === undefined
}

/** A search through a list that may still grow. */
export interface Search {
  /** What has been found so far, in the order of the list; grows in place. */
  readonly matches: readonly Item[]
  /**
   * Goes through the items that have not been looked at yet. If it is ended before, the next call goes on.
   * @param pace called after each item; it ends the search by throwing.
   */
  advance(pace: Pace): Promise<void>
}

export function createSearch(items: readonly Item[], filter: Filter): Search {
  const { project } = filter
  const hasQuery = createQuery(filter.query)
  const matches: Item[] = []
  let seen = 0
  return {
    matches,
    async advance(pace) {
      for (let item = items[seen]; item !== undefined; item = items[seen]) {
        seen += 1
        if ((project === undefined || projectOf(item) === project) && hasQuery(item.text)) {
          matches.push(item)
        }
        await pace()
      }
    },
  }
}

/** Finds text as it is written, and as it reads with its escapes resolved. */
function createQuery(query: string): (text: string) => boolean {
  const escaped = query.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
  const expression = new RegExp(escaped, 'iu')
  return (text) =>
    expression.test(text) || (text.includes('\\') && expression.test(withoutEscapes(text)))
}

function withoutEscapes(text: string): string {
  return text.replaceAll(/\\(?:u[0-9a-fA-F]{4}|["\\/])/g, (written) => JSON.parse(`"${written}"`))
}
