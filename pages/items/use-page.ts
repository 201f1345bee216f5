/** The state of the items page, and the actions that its components share. @module */

import { useEffect, useRef, useState } from 'preact/hooks'
import { download } from '../shared/download.js'
import { useToken } from '../shared/token.js'
import type { ChangedError } from './changes.js'
import { everything, matchesAll } from './filter.js'
import { type Item, isEditableInCell, memberText, projectOf } from './item.js'
import { useLayout } from './layout.js'
import { mostUsed } from './overview.js'
import type { Peeked } from './peek.js'
import { useSelection } from './selection.js'
import { list, messageFor, needsToken } from './service.js'
import type { View } from './table.js'
import { useTracks } from './tracks.js'
import { useCollection, useMatches, useSorted } from './use-collection.js'
import { loadDialogs, useDialogs } from './use-dialogs.js'
import { useDraft } from './use-draft.js'

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
  const [cell, setCell] = useState<{ readonly item: Item; readonly name: string }>()
  const [peeked, setPeeked] = useState<Peeked>()
  const drafts = useDraft()
  const { draft, editing, openDraft, edit } = drafts
  /** Id of the last item that turned out to be deleted when the user tried to change it. */
  const [gone, setGone] = useState<string>()
  const [toDelete, setToDelete] = useState<readonly Item[]>()
  const [dialog, setDialog] = useState<'import' | 'columns' | 'help'>()
  const [isExporting, setExporting] = useState(false)
  /** Error message for a failed export, or for dialogs that could not be loaded; empty if there is none. */
  const [failure, setFailure] = useState('')
  /** Set while the token dialog is open. Contains the error that opened the dialog, if any. */
  const [asking, setAsking] = useState<{ problem?: unknown } | undefined>(
    token === '' ? {} : undefined,
  )
  const search = useRef<HTMLInputElement>(null)
  const grid = useRef<HTMLTableElement>(null)

  const isSelected = selection.items.length > 0
  const isFiltered = filter.conditions.length > 0
  const isAsking = asking !== undefined
  const isEmpty = rows.length === 0 && (listedAt !== undefined || loading === undefined)
  const isOpen = Boolean(draft ?? cell ?? peeked ?? toDelete ?? dialog ?? asking)
  const isSearched = !matchesAll(filter) || layout.sort.length > 0
  const isNeeded = isOpen || isEmpty || isSelected || isFiltered || isSearched || view === 'json'
  const dialogs = useDialogs(isNeeded, () => {
    setDialog(undefined)
    setCell(undefined)
    setPeeked(undefined)
    drafts.closeDraft()
    setToDelete(undefined)
    setAsking(undefined)
    setView('table')
    setFailure('This part of the page cannot be loaded. Is the service running?')
  })

  const lastTried = useRef<string | undefined>('')
  // Requests the list when the token changes, but only after the token dialog has closed.
  useEffect(() => {
    if (isAsking || token === lastTried.current) return
    lastTried.current = token
    collection.refresh()
  }, [token, isAsking])
  const onProblem = (error: unknown) => {
    if (needsToken(error)) setAsking({ problem: error })
  }
  useEffect(() => onProblem(problem), [problem])

  const addNew = () => {
    const inList = active ? projectOf(active) : mostUsed(projects, 1)[0]
    const project = filter.project === undefined ? inList : filter.project
    const members = project ? [`"project_id": ${JSON.stringify(project)}`] : []
    openDraft(`{${[...members, ...overview.shapeOf(project).blanks()].join()}}`)
  }
  const lacksToken = !listedAt && token === ''
  // An item that is missing from an incomplete list, or from the list of one project, may still exist.
  const isGone = (listedAt && !filter.project) || (draft?.item && draft.item.id === gone)

  async function exportAll(): Promise<void> {
    if (isExporting) return
    setExporting(true)
    setFailure('')
    try {
      const { exportItems } = await loadDialogs()
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
      d: item && (() => openDraft(item.text, undefined, true)),
      e: item && (() => edit(item)),
      Delete: isSelected ? () => setToDelete(selection.items) : item && (() => setToDelete([item])),
      '/': () => search.current?.focus(),
      '?': () => setDialog('help'),
      Escape: isSelected ? undefined : editing.current?.close,
    }
    const act = actions[event.key]
    if (!act) return
    event.preventDefault()
    act()
  }

  return {
    ...shown,
    ...drafts,
    ...{ collection, filter, setFilter, isFiltered, matches, rows, isEmpty, search },
    ...{ view, setView, layout, changeLayout, shape, tracks, setRoom, grid },
    ...{ active, setActive, column, setColumn, selection, isSelected },
    ...{ cell, setCell, peeked, setPeeked, toDelete, setToDelete },
    ...{ dialogs, dialog, setDialog, token, lacksToken, asking, setAsking },
    ...{ addNew, isExporting, exportAll, onKey, onProblem, failure, setFailure },
    listProblem: lacksToken || failure || isAsking ? undefined : problem,
    /** Latest known version of the item that is being edited; `undefined` if that item is not stored. */
    listed: items.find(({ id }) => id === draft?.item?.id) ?? (isGone ? undefined : draft?.item),
    closeDialog: () => setDialog(undefined),
    /** Edits a member in its cell, or the whole item if `name` is `undefined`. */
    openCell(item: Item, name?: string) {
      if (name !== undefined && isEditableInCell(memberText(item, name))) setCell({ item, name })
      else edit(item)
    },
    onFound({ id, text }: ChangedError) {
      if (text !== undefined) return collection.put(text)
      setGone(id)
      collection.remove(new Set([id]))
    },
    /** Closes the token dialog and requests the list, even if the token has not changed. */
    applyToken() {
      lastTried.current = undefined
      setAsking(undefined)
    },
  }
}
