/** The items page: toolbar, list and dialogs. @module */

import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { download } from '../shared/download.js'
import { useToken } from '../shared/token.js'
import type { ChangedError } from './changes.js'
import { everything, matchesAll } from './filter.js'
import { Header } from './header.js'
import { type Item, isEditableInCell, itemOf, memberText, projectOf } from './item.js'
import { useLayout } from './layout.js'
import { mostUsed } from './overview.js'
import type { Peeked } from './peek.js'
import { nextTo, useSelection } from './selection.js'
import { list, messageFor, needsToken } from './service.js'
import { Status } from './status.js'
import { ItemTable, type View } from './table.js'
import { Toolbar } from './toolbar.js'
import { useTracks } from './tracks.js'
import { useCollection, useMatches, useSorted } from './use-collection.js'
import { loadDialogs, useDialogs } from './use-dialogs.js'
import { useDraft } from './use-draft.js'

export function App() {
  const token = useToken()
  const [filter, setFilter] = useState(everything)
  const collection = useCollection(filter.project)
  const { items, overview, projects, loading, share, listedAt, problem, changed, news } =
    collection.shown()

  const matches = useMatches(items, filter)
  const [layout, changeLayout] = useLayout(filter.project)
  const rows = useSorted(matches, items, layout.sort, listedAt !== undefined)
  const [view, setView] = useState<View>('table')
  const [room, setRoom] = useState<number>()
  const shape = overview.shapeOf(filter.project)
  const tracks = useTracks(filter.project, shape, layout, room, listedAt !== undefined)
  const { names } = tracks
  const [active, setActive] = useState<Item>()
  const [column, setColumn] = useState<string>()
  const selection = useSelection(rows)
  const [cell, setCell] = useState<{ readonly item: Item; readonly name: string }>()
  const [peeked, setPeeked] = useState<Peeked>()
  const { draft, editing, show, open, edit, follow, change, close: closeDraft } = useDraft()
  /** Id of the last item that turned out to be deleted when the user tried to change it. */
  const [gone, setGone] = useState<string>()
  const [toDelete, setToDelete] = useState<readonly Item[]>()
  const [dialog, setDialog] = useState<'import' | 'columns' | 'help'>()
  const [isExporting, setExporting] = useState(false)
  const [failure, setFailure] = useState('')
  /** Set while the token dialog is open. Contains the error that opened the dialog, if any. */
  const [asking, setAsking] = useState<{ problem?: unknown } | undefined>(
    token === '' ? {} : undefined,
  )
  const search = useRef<HTMLInputElement>(null)
  const grid = useRef<HTMLTableElement>(null)
  const focused = document.activeElement
  useLayoutEffect(() => {
    if (focused?.isConnected) return
    // If the focused element was removed, focus moves to the list, unless a closing dialog has moved it elsewhere.
    queueMicrotask(() => document.activeElement === document.body && grid.current?.focus())
  })

  const isSelected = selection.items.length > 0
  const isFiltered = filter.conditions.length > 0
  const isAsking = asking !== undefined
  const isEmpty = rows.length === 0 && (listedAt !== undefined || loading === undefined)
  const isOpen = Boolean(draft ?? cell ?? peeked ?? toDelete ?? dialog)
  const isSearched = !matchesAll(filter) || layout.sort.length > 0
  const isJson = view === 'json'
  const isNeeded = isOpen || isAsking || isEmpty || isSelected || isFiltered || isSearched || isJson
  const dialogs = useDialogs(isNeeded, () => {
    close()
    setCell(undefined)
    setPeeked(undefined)
    closeDraft()
    setToDelete(undefined)
    setAsking(undefined)
    setView('table')
    setFailure('This part of the page cannot be loaded. Is the service running?')
  })

  const lastTried = useRef<string | undefined>('')
  // Lists items when the token changes, but only after the token dialog has closed.
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
    open(`{${[...members, ...overview.shapeOf(project).blanks()].join()}}`)
  }
  const lacksToken = !listedAt && token === ''
  const listProblem = lacksToken || failure || isAsking ? undefined : problem

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
      d: item && (() => open(item.text, undefined, true)),
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

  const onFound = ({ id, text }: ChangedError) => {
    if (text !== undefined) return collection.put(text)
    setGone(id)
    collection.remove(new Set([id]))
  }

  // An item may exist even if a partial list, or the list of one project, does not contain it.
  const isGone = (listedAt && !filter.project) || (draft?.item && draft.item.id === gone)
  const close = () => setDialog(undefined)
  const askForToken = () => setAsking({})

  return (
    <>
      <Header
        isLive={listedAt !== undefined}
        isFailing={problem !== undefined}
        onHelp={() => setDialog('help')}
        onToken={askForToken}
      />
      <main>
        <Toolbar
          {...{ filter, projects, view, isExporting, search }}
          onFilter={setFilter}
          onView={setView}
          onNew={addNew}
          onImport={() => setDialog('import')}
          onExport={exportAll}
          onColumns={() => setDialog('columns')}
        />
        {dialogs && isFiltered && (
          <dialogs.Conditions
            conditions={filter.conditions}
            names={['project_id', ...shape.names]}
            onChange={(conditions) => setFilter({ ...filter, conditions })}
          />
        )}
        <ItemTable
          {...{ grid, tracks, layout, changed, column, selection, onKey }}
          json={isJson ? dialogs : undefined}
          onRoom={setRoom}
          onColumns={() => setDialog('columns')}
          items={rows}
          onLayout={changeLayout}
          active={active?.id}
          onActive={(item) => {
            setActive(item)
            if (item.id !== draft?.item?.id) follow(item)
          }}
          onColumn={setColumn}
          onPeek={setPeeked}
          onOpen={(item, name) => {
            if (name !== undefined && isEditableInCell(memberText(item, name)))
              setCell({ item, name })
            else edit(item)
          }}
        />
        {dialogs && isEmpty && (
          <dialogs.NoRows
            {...{ token, filter, lacksToken }}
            all={listedAt && items.length}
            onToken={askForToken}
            onNew={addNew}
            onImport={() => setDialog('import')}
            onAll={() => setFilter(everything)}
          />
        )}
        <Status
          {...{ loading, share, listedAt, news, listProblem, failure }}
          all={items.length}
          matching={matches.items.length}
          onRefresh={collection.refresh}
          onToken={askForToken}
          onDismiss={() => setFailure('')}
        >
          {dialogs && isSelected && (
            <dialogs.SelectionBar {...{ selection }} onDelete={setToDelete} />
          )}
        </Status>
      </main>
      {dialogs && peeked && (
        <dialogs.Peek
          key={`${peeked.item.id} ${peeked.name}`}
          {...peeked}
          onClose={() => setPeeked((now) => (now === peeked ? undefined : now))}
        />
      )}
      {dialogs && draft && (
        <dialogs.Edit
          {...{ editing, onFound, onProblem, ...draft }}
          key={draft.key}
          onMove={(step) => {
            const item = rows[rows.findIndex(({ id }) => id === draft.item?.id) + step]
            if (!item) return
            setActive(item)
            show(item.text, item)
          }}
          listed={
            items.find(({ id }) => id === draft.item?.id) ?? (isGone ? undefined : draft.item)
          }
          onSaved={(text, isDone) => {
            collection.put(text)
            const item = itemOf(text)
            setActive(item)
            change(draft, isDone ? undefined : { item })
          }}
          onSeen={(item) => change(draft, { item, isCopy: true })}
          onDelete={(item) => setToDelete([item])}
          onDuplicate={(text) => show(text, undefined, true)}
          onStay={() => draft.item && setActive(draft.item)}
          onClose={closeDraft}
        />
      )}
      {dialogs && cell && (
        <dialogs.CellEditor
          {...{ listProblem, onProblem, ...cell }}
          onSaved={(text) => {
            collection.put(text)
            if (cell.item.id === draft?.item?.id) follow(itemOf(text))
          }}
          onConflict={(found, text) => {
            setCell(undefined)
            onFound(found)
            open(text, cell.item)
          }}
          onClose={(move) => {
            setCell(undefined)
            const next = names.indexOf(cell.name) + move
            if (next < names.length) setColumn(names[next])
          }}
        />
      )}
      {dialogs && dialog === 'import' && (
        <dialogs.Import {...{ onProblem }} onImported={collection.refresh} onClose={close} />
      )}
      {dialogs && dialog === 'columns' && (
        <dialogs.Columns {...{ shape, names, layout }} onLayout={changeLayout} onClose={close} />
      )}
      {dialogs && dialog === 'help' && <dialogs.Help onClose={close} />}
      {dialogs && toDelete && (
        <dialogs.Delete
          {...{ onFound, onProblem }}
          items={toDelete}
          onDeleted={(ids) => {
            if (draft?.item && ids.has(draft.item.id)) closeDraft()
            collection.remove(ids)
            if (active && ids.has(active.id)) setActive(nextTo(rows, active, ids))
          }}
          onClose={() => setToDelete(undefined)}
        />
      )}
      {dialogs && isAsking && (
        <dialogs.TokenDialog
          {...asking}
          onUse={() => {
            lastTried.current = undefined // allows another attempt with the same token
            setAsking(undefined)
          }}
          onClose={() => setAsking(undefined)}
        />
      )}
    </>
  )
}
