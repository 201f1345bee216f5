/** What the list shows, and how, and the page's address that says the same. @module */

import { membersIn } from '../../../src/client/item-store-error.js'
import { createState } from '../../shared/state.js'
import { isString } from '../../shared/storage.js'
import { type Condition, everything, type Filter, isComplete, tests } from '../model/filter.js'
import type { Sort } from '../model/sort.js'

export interface View extends Filter {
  readonly sort: Sort | undefined
  readonly isJson: boolean // rows are JSON, not cells
}

interface Place {
  readonly view: View
  readonly item: string | undefined // id of the open item, empty for a new one
}

export const view = createState(placeIn().view)

export function changeView(part: Partial<View>): void {
  view.set({ ...view.get(), ...part })
}

/** Returns the part of an address after the `#`, which browsers do not send. Leaves out unfinished conditions. */
export function addressOf({ view, item }: Place): string {
  const { query, project, conditions, sort, isJson } = view
  const parts = new URLSearchParams()
  if (project !== undefined) parts.set('project', project ?? '') // no project has an empty name
  if (query) parts.set('search', query)
  for (const { name, test, value } of conditions.filter(isComplete))
    parts.append('where', JSON.stringify([name, test, value]))
  if (sort) parts.set(sort.isDescending ? 'descending' : 'ascending', sort.name)
  if (isJson) parts.set('as', 'json')
  if (item !== undefined) parts.set('item', item)
  return `${parts}`
}

/** Reads an address, which may contain anything. */
export function placeIn(address = location.hash.slice(1)): Place {
  const parts = new URLSearchParams(address)
  const project = parts.get('project')
  const [ascending, descending] = [parts.get('ascending'), parts.get('descending')]
  const name = ascending ?? descending
  return {
    item: parts.get('item') ?? undefined,
    view: {
      ...everything,
      query: parts.get('search') ?? '',
      project: project === null ? undefined : project || null,
      conditions: parts.getAll('where').flatMap(conditionIn),
      sort: name === null ? undefined : { name, isDescending: ascending === null },
      isJson: parts.get('as') === 'json',
    },
  }
}

function conditionIn(text: string): Condition | [] {
  const [name, test, value] = Object.values(membersIn(text))
  const known = tests.find((each) => each === test)
  return known && isString(name) && isString(value) ? { name, test: known, value } : []
}
