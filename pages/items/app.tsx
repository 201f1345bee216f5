/** The items page: the list, and the dialogs above it. @module */

import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { pagePaths } from '../../src/interface/paths.js'
import { download } from '../shared/download.js'
import { useToken } from '../shared/token-form.js'
import { Conditions } from './conditions.js'
import { everything } from './filter.js'
import { type Item, isEditableInCell, itemOf, memberText } from './item.js'
import { inOrder, useLayout } from './layout.js'
import { NoRows } from './no-rows.js'
import { defaultColumns } from './overview.js'
import type { Peeked } from './peek.js'
import { useSelection } from './selection.js'
import { SelectionBar } from './selection-bar.js'
import { type ChangedError, type ItemService, messageFor, needsToken } from './service.js'
import { Status } from './status.js'
import { ItemTable, type View } from './table.js'
import { TokenDialog } from './token-dialog.js'
import { Toolbar } from './toolbar.js'
import { useCollection, useMatches, useSorted } from './use-collection.js'
import { loadDialogs, useDialogs } from './use-dialogs.js'

/** What is being added or edited. */
interface Draft {
  /** The stored item, as the user has seen it; `undefined` for a new one. */
  readonly item: Item | undefined
  /** What the editor starts with. */
  readonly text: string
  /** Whether that is a copy, which is not stored anywhere. */
  readonly isCopy: boolean
  /** Unique, so that no draft inherits the state of another. */
  readonly key: number
}

export function App({ service }: { service: ItemService }) {
  const token = useToken()
  const collection = useCollection(service)
  const { items, overview, loading, share, listedAt, problem, changed, news } = collection.shown()

  const [filter, setFilter] = useState(everything)
  const matches = useMatches(items, filter)
  const [layout, changeLayout] = useLayout(filter.project)
  const rows = useSorted(matches, items, layout.sort, listedAt !== undefined)
  const [view, setView] = useState<View>('table')
  const defaults = defaultColumns(overview)
  const names = useMemo(
    () => inOrder(layout.names ?? defaults, layout.pinned),
    [layout.names, layout.pinned, defaults.join('\n')],
  )
  const [active, setActive] = useState<Item>()
  const [column, setColumn] = useState<string>()
  const selection = useSelection(rows)
  /** What is edited in its cell. */
  const [cell, setCell] = useState<{ readonly item: Item; readonly name: string }>()
  const [peeked, setPeeked] = useState<Peeked>()
  const [draft, setDraft] = useState<Draft>()
  const [toDelete, setToDelete] = useState<readonly Item[]>()
  const [dialog, setDialog] = useState<'import' | 'columns' | 'help'>()
  const [isExporting, setExporting] = useState(false)
  const [failure, setFailure] = useState('')
  /** Why a token is asked for; `undefined` while it is not. */
  const [tokenReason, setTokenReason] = useState<string | undefined>(token === '' ? '' : undefined)
  // The HTML links to the API page only if the service has it.
  const hasApiPage = document.querySelector('link[rel=service-doc]') !== null
  const search = useRef<HTMLInputElement>(null)
  const grid = useRef<HTMLTableElement>(null)

  const dialogs = useDialogs(Boolean(draft ?? cell ?? peeked ?? toDelete ?? dialog), () => {
    close()
    setCell(undefined)
    setPeeked(undefined)
    setDraft(undefined)
    setToDelete(undefined)
    setFailure('This part of the page cannot be loaded. Is the service running?')
  })

  const isAsking = tokenReason !== undefined
  /** The token that the latest attempt to list used. */
  const lastTried = useRef<string | undefined>('')
  // A token from the address is used at once; one that is typed, when the dialog is closed.
  useEffect(() => {
    if (isAsking || token === lastTried.current) return
    lastTried.current = token
    collection.refresh()
  }, [token, isAsking])
  const onProblem = (error: unknown) => {
    if (needsToken(error)) setTokenReason(messageFor(error))
  }
  useEffect(() => onProblem(problem), [problem])

  const open = (text: string, item?: Item, isCopy = false) =>
    setDraft({ item, text, isCopy, key: performance.now() })
  const duplicate = (text: string) => open(text, undefined, true)
  /** A late result of another draft, or of one that was discarded, changes nothing. */
  const changeDraft = ({ key }: Draft, changes: Partial<Draft> | undefined) =>
    setDraft((now) => (now?.key === key ? changes && { ...now, ...changes } : now))
  const addNew = () => open(`{\n  "project_id": ${JSON.stringify(filter.project ?? null)}\n}`)
  const isSelected = selection.items.length > 0
  const lacksToken = !listedAt && token === ''
  const listProblem = lacksToken || failure ? undefined : problem // one failure is shown at a time

  async function exportAll(): Promise<void> {
    if (isExporting) return
    setExporting(true)
    setFailure('')
    try {
      const { exportItems } = await loadDialogs()
      const list = service.list(new AbortController().signal, () => undefined)
      download(await exportItems(list), 'items.json')
    } catch (error) {
      setFailure(`Not exported. ${messageFor(error)}`)
      onProblem(error)
    }
    setExporting(false)
  }

  function onKey(event: KeyboardEvent, item: Item | undefined): void {
    const actions: Record<string, (() => void) | undefined> = {
      n: addNew,
      d: item && (() => duplicate(item.text)),
      e: item && (() => open(item.text, item)),
      Delete: isSelected ? () => setToDelete(selection.items) : item && (() => setToDelete([item])),
      '/': () => search.current?.focus(),
      '?': () => setDialog('help'),
    }
    const act = actions[event.key]
    if (!act) return
    event.preventDefault()
    act()
  }

  const onFound = ({ id, text }: ChangedError) =>
    text === undefined ? collection.remove(new Set([id])) : collection.put(text)

  const close = () => setDialog(undefined)
  const askForToken = () => setTokenReason('')

  return (
    <>
      <header class="line bar">
        <h1>Items</h1>
        {hasApiPage && <a href={pagePaths.docs}>API</a>}
        <button type="button" class="plain" onClick={() => setDialog('help')}>
          Shortcuts
        </button>
        <button type="button" class="plain" onClick={askForToken}>
          Token
        </button>
      </header>
      <main>
        <Toolbar
          {...{ filter, overview, names, view, isExporting, search }}
          onFilter={setFilter}
          onView={setView}
          onNew={addNew}
          onImport={() => setDialog('import')}
          onExport={exportAll}
          onColumns={() => setDialog('columns')}
        />
        <Conditions
          conditions={filter.conditions}
          names={['project_id', ...overview.names]}
          onChange={(conditions) => setFilter({ ...filter, conditions })}
          next={grid}
        />
        <Status
          {...{ loading, share, listedAt, news, listProblem, failure }}
          all={items.length}
          matching={matches.items.length}
          onRefresh={collection.refresh}
          onToken={askForToken}
          onDismiss={() => setFailure('')}
          next={grid}
        >
          {isSelected && <SelectionBar {...{ selection }} onDelete={setToDelete} next={grid} />}
        </Status>
        <ItemTable
          {...{ grid, view, names, layout, changed, column, selection, onKey }}
          overview={overview}
          items={rows}
          onLayout={changeLayout}
          active={active?.id}
          onActive={setActive}
          onColumn={setColumn}
          onPeek={setPeeked}
          onOpen={(item, name) => {
            if (name !== undefined && isEditableInCell(memberText(item, name)))
              setCell({ item, name })
            else open(item.text, item)
          }}
        />
        {rows.length === 0 && (listedAt || loading === undefined) && (
          <NoRows
            {...{ token, filter, lacksToken }}
            all={listedAt && items.length}
            onToken={askForToken}
            onNew={addNew}
            onImport={() => setDialog('import')}
            onAll={() => {
              setFilter(everything)
              grid.current?.focus()
            }}
          />
        )}
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
          {...{ service, onFound, onProblem }}
          key={draft.key}
          item={draft.item}
          text={draft.text}
          isCopy={draft.isCopy}
          listed={draft.item && items.find(({ id }) => id === draft.item?.id)}
          onSaved={(text, isDone) => {
            collection.put(text)
            const item = itemOf(text)
            setActive(item)
            changeDraft(draft, isDone ? undefined : { item })
          }}
          onSeen={(item) => changeDraft(draft, { item, isCopy: true })}
          onDelete={(item) => setToDelete([item])}
          onDuplicate={duplicate}
          onClose={() => setDraft(undefined)}
        />
      )}
      {dialogs && cell && (
        <dialogs.CellEditor
          {...{ service, listProblem, onProblem, ...cell }}
          onSaved={collection.put}
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
        <dialogs.Import
          {...{ service, onProblem }}
          onImported={collection.refresh}
          onClose={close}
        />
      )}
      {dialogs && dialog === 'columns' && (
        <dialogs.Columns {...{ overview, names, layout }} onLayout={changeLayout} onClose={close} />
      )}
      {dialogs && dialog === 'help' && <dialogs.Help onClose={close} />}
      {dialogs && toDelete && (
        <dialogs.Delete
          {...{ service, onFound, onProblem }}
          items={toDelete}
          onDeleted={(ids) => {
            setDraft((now) => (now?.item && ids.has(now.item.id) ? undefined : now))
            collection.remove(ids)
            if (active && ids.has(active.id)) setActive(nextTo(rows, active, ids))
          }}
          onClose={() => setToDelete(undefined)}
        />
      )}
      {isAsking && (
        <TokenDialog
          reason={tokenReason}
          onUse={() => {
            lastTried.current = undefined // so that the same token is tried again, too
            setTokenReason(undefined)
          }}
          onClose={() => setTokenReason(undefined)}
        />
      )}
    </>
  )
}

/** The first item after another one that is not deleted, or the last one before it. */
function nextTo(
  items: readonly Item[],
  item: Item,
  deleted: ReadonlySet<string>,
): Item | undefined {
  const place = items.findIndex(({ id }) => id === item.id)
  const isLeft = ({ id }: Item) => !deleted.has(id)
  return (
    items.slice(Math.max(0, place)).find(isLeft) ??
    items.slice(0, Math.max(0, place)).findLast(isLeft)
  )
}
