/** The state of the items page, and the actions that its components share. @module */

import { useEffect, useRef, useState } from 'preact/hooks'
import { download } from '../shared/download.js'
import { keyOf } from '../shared/keys.js'
import { useToken } from '../shared/token.js'
import type { ChangedError } from './changes.js'
import { copyOf, newDraft } from './edit/session.js'
import { useSession } from './edit/use-session.js'
import { everything } from './filter.js'
import { type Item, isEditableInCell, memberText, projectOf } from './item.js'
import { exportItems } from './items-file.js'
import { useLayout } from './layout.js'
import { mostUsed } from './overview.js'
import { useSelection } from './selection.js'
import { list, messageFor, needsToken } from './service.js'
import { closed, type Overlay, opened } from './state/overlay.js'
import type { View } from './table.js'
import { useTracks } from './tracks.js'
import { useCollection, useMatches, useSorted } from './use-collection.js'

export type Page = ReturnType<typeof usePage>

export function usePage() {
  const token = useToken()
  const [filter, setFilter] = useState(everything)
  const collection = useCollection(filter.project)
  const shown = collection.shown()
  const { items, overview, projects, loading, listedAt, problem } = shown
  const matches = useMatches(items, filter)
  const [layout, changeLayout] = useLayout(filter.project)
  const rows = useSorted(matches, items, layout.sort, listedAt !== undefined)
  const [view, setView] = useState<View>('table')
  /** Visible width of the table in characters; `undefined` if rows are cards or JSON. */
  const [room, setRoom] = useState<number>()
  const shape = overview.shapeOf(filter.project)
  const tracks = useTracks(filter.project, shape, layout, room, listedAt !== undefined)
  const [active, setActive] = useState<Item>()
  /** Name of the active cell's column; `undefined` for the id column. */
  const [column, setColumn] = useState<string>()
  const selection = useSelection(rows)
  // The list of one project does not tell which other items are stored.
  const sessions = useSession(items, listedAt !== undefined && !filter.project, setActive)
  const { session, dispatch, edit } = sessions
  const [overlays, setOverlays] = useState<readonly Overlay[]>(
    token === '' ? [{ kind: 'token' }] : [],
  )
  const open = (overlay: Overlay) => setOverlays((now) => opened(now, overlay))
  const close = (kind: Overlay['kind']) => setOverlays((now) => closed(now, kind))
  const [isExporting, setExporting] = useState(false)
  /** Error message for a failed export; empty if there is none. */
  const [failure, setFailure] = useState('')
  const search = useRef<HTMLInputElement>(null)
  const grid = useRef<HTMLTableElement>(null)

  const isSelected = selection.items.length > 0
  const isFiltered = filter.conditions.length > 0
  const isAsking = overlays.some(({ kind }) => kind === 'token')
  const isEmpty = rows.length === 0 && (listedAt !== undefined || loading === undefined)

  const lastTried = useRef<string | undefined>('')
  // Requests the list when the token changes, but only after the token dialog has closed.
  useEffect(() => {
    if (isAsking || token === lastTried.current) return
    lastTried.current = token
    collection.refresh()
  }, [token, isAsking])
  const onProblem = (error: unknown) => {
    if (needsToken(error)) open({ kind: 'token', problem: error })
  }
  useEffect(() => onProblem(problem), [problem])

  const addNew = () => {
    const inList = active ? projectOf(active) : mostUsed(projects, 1)[0]
    const project = filter.project === undefined ? inList : filter.project
    const members = project ? [`"project_id": ${JSON.stringify(project)}`] : []
    const text = `{${[...members, ...overview.shapeOf(project).blanks()].join()}}`
    dispatch({ type: 'go', to: newDraft(text) })
  }
  const lacksToken = !listedAt && token === ''

  async function exportAll(): Promise<void> {
    if (isExporting) return
    setExporting(true)
    setFailure('')
    try {
      const texts = list(undefined, new AbortController().signal, () => undefined)
      download(await exportItems(texts), 'items.json')
    } catch (error) {
      setFailure(`Not exported. ${messageFor(error)}`)
      onProblem(error)
    }
    setExporting(false)
  }

  function onKey(event: KeyboardEvent, item: Item | undefined): void {
    const actions: Record<string, (() => void) | undefined> = {
      n: addNew,
      d: item && (() => dispatch({ type: 'go', to: copyOf(item.text) })),
      e: item && (() => edit(item)),
      Delete: isSelected
        ? () => open({ kind: 'delete', items: selection.items })
        : item && (() => open({ kind: 'delete', items: [item] })),
      '/': () => search.current?.focus(),
      '?': () => open({ kind: 'help' }),
      Escape: isSelected || !session ? undefined : () => dispatch({ type: 'go', to: 'close' }),
    }
    const act = actions[keyOf(event)]
    if (!act) return
    event.preventDefault()
    act()
  }

  return {
    ...shown,
    ...sessions,
    ...{ collection, filter, setFilter, isFiltered, matches, rows, isEmpty, search },
    ...{ view, setView, layout, changeLayout, shape, tracks, setRoom, grid },
    ...{ active, setActive, column, setColumn, selection, isSelected },
    ...{ overlays, open, close, token, lacksToken },
    ...{ addNew, isExporting, exportAll, onKey, onProblem, failure, setFailure },
    listProblem: lacksToken || failure || isAsking ? undefined : problem,
    /** Edits a member in its cell, or the whole item if `name` is `undefined`. */
    openCell(item: Item, name?: string) {
      if (name !== undefined && isEditableInCell(memberText(item, name)))
        open({ kind: 'cell', item, name })
      else edit(item)
    },
    onFound({ id, text }: ChangedError) {
      if (text !== undefined) collection.put(text)
      else collection.remove(new Set([id]))
    },
    /** Closes the token dialog and requests the list, even if the token has not changed. */
    applyToken() {
      lastTried.current = undefined
      close('token')
    },
  }
}
