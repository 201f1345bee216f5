/** What the list shows, and how. The address of the page says the same, so that Back and links work. @module */

import { useEffect, useRef } from 'preact/hooks'
import { createState } from '../../shared/state.js'
import { type Condition, everything, type Filter, isComplete, tests } from '../model/filter.js'
import type { Sort } from '../model/sort.js'

export interface View extends Filter {
  readonly sort: Sort | undefined
  readonly isJson: boolean // rows are JSON, not cells
}

interface Place {
  readonly view: View
  readonly item: string | undefined
}

const pause = 400 // ms without changes before the address changes; browsers allow few changes

export const view = createState(placeIn(location.hash).view)

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

/** Reads an address, in which anybody may have written anything. */
export function placeIn(hash: string): Place {
  const parts = new URLSearchParams(hash.slice(1))
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
  try {
    const [name, test, value] = Object(JSON.parse(text))
    const known = tests.find((each) => each === test)
    return known && typeof name === 'string' && typeof value === 'string'
      ? { name, test: known, value }
      : []
  } catch {
    return []
  }
}

/** Parts that change without a new entry in the history: the text of a filter, and the open item. */
const details = /(?<=\b(?:search|where|item)=)[^&]+/g

/**
 * Keeps the address in step with what is seen, and the other way round.
 * @param isOpen whether the page has settled on `item`, and does not ask the user what to do with typed text.
 */
export function useAddress(
  item: string | undefined,
  isOpen: boolean,
  onItem: (id: string | undefined) => void,
): void {
  const address = addressOf({ view: view.use(), item })
  /** Read when a timer or event fires, because effects run only after the browser has drawn. */
  const latest = useRef({ address, item, onItem })
  latest.current = { address, item, onItem }
  useEffect(() => {
    if (!isOpen || address === location.hash.slice(1)) return undefined
    const timer = setTimeout(() => write(latest.current), pause)
    return () => clearTimeout(timer)
  }, [address, isOpen])
  useEffect(() => {
    const read = () => {
      const now = location.hash.slice(1)
      if (now === latest.current.address || new URLSearchParams(now).has('token')) return // a token changes nothing else
      const place = placeIn(location.hash)
      view.set(place.view)
      latest.current.onItem(place.item)
    }
    addEventListener('popstate', read)
    return () => removeEventListener('popstate', read)
  }, [])
}

function write({ address, item }: { address: string; item: string | undefined }): void {
  const before = location.hash.slice(1)
  if (address === before) return // the user has gone back
  const isStep = address.replaceAll(details, '') !== before.replaceAll(details, '')
  const url = location.pathname + location.search + (address && `#${address}`)
  // Closing an item undoes the step that opened it, so that Back does not open it again.
  const isClosing = item === undefined && placeIn(location.hash).item !== undefined
  if (isClosing && history.state?.below === address) history.back()
  else if (isStep && !isClosing) history.pushState({ below: before }, '', url)
  else history.replaceState(history.state, '', url)
}
