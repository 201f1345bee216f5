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

/** @param pace called after each item. */
export async function filterItems(
  items: readonly Item[],
  filter: Filter,
  pace: Pace,
): Promise<readonly Item[]> {
  if (isOpen(filter)) return items
  const { project } = filter
  const hasQuery = createSearch(filter.query)
  const matches: Item[] = []
  for (const item of items) {
    if ((project === undefined || projectOf(item) === project) && hasQuery(item.text)) {
      matches.push(item)
    }
    await pace()
  }
  return matches
}

/** Finds text as it is written, and as it reads with its escapes resolved. */
function createSearch(query: string): (text: string) => boolean {
  const escaped = query.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
  const expression = new RegExp(escaped, 'iu')
  return (text) =>
    expression.test(text) || (text.includes('\\') && expression.test(withoutEscapes(text)))
}

function withoutEscapes(text: string): string {
  return text.replaceAll(/\\(?:u[0-9a-fA-F]{4}|["\\/])/g, (written) => JSON.parse(`"${written}"`))
}
