/** The items page: the list, and what is open above it. @module */

import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { pagePaths } from '../../src/interface/paths.js'
import { useSession } from '../shared/token-form.js'
import { Columns, usualColumns } from './columns.js'
import { Delete } from './delete.js'
import { newDraft, withoutId } from './draft.js'
import { Edit } from './edit.js'
import { download, exportItems } from './export.js'
import type { Filter } from './filter.js'
import { Help } from './help.js'
import { Import } from './import.js'
import { type Item, itemOf } from './item.js'
import { type ItemService, needsToken, wordsFor } from './service.js'
import { Status } from './status.js'
import { ItemTable, type View } from './table.js'
import { TokenDialog } from './token-dialog.js'
import { Toolbar } from './toolbar.js'
import { useCollection, useMatches } from './use-collection.js'

/** What is being added or edited. */
interface Draft {
  /** The stored item, as the person has seen it; `undefined` for a new one. */
  readonly item: Item | undefined
  /** What the editor starts with. */
  readonly text: string
  /** Whether that is not stored anywhere. */
  readonly isCopy: boolean
  /** Another one for each draft, so that none takes over what is left of another. */
  readonly key: number
}

export function App({ service }: { service: ItemService }) {
  const { token } = useSession()
  const collection = useCollection(service)
  const { items, overview, loading, listedAt, problem, changed, news } = collection.shown()

  const [filter, setFilter] = useState<Filter>({ query: '', project: undefined })
  const matches = useMatches(items, filter)
  const [view, setView] = useState<View>('table')
  const [chosen, setChosen] = useState<readonly string[]>()
  const usual = usualColumns(overview)
  const columns = useMemo(() => chosen ?? usual, [chosen, usual.join('\n')])
  const [active, setActive] = useState<Item>()
  const [draft, setDraft] = useState<Draft>()
  const [doomed, setDoomed] = useState<Item>()
  const [dialog, setDialog] = useState<'import' | 'columns' | 'help'>()
  const [isExporting, setExporting] = useState(false)
  const [failure, setFailure] = useState('')
  /** Why a token is asked for; `undefined` while it is not. */
  const [tokenReason, setTokenReason] = useState<string | undefined>(token === '' ? '' : undefined)
  const search = useRef<HTMLInputElement>(null)
  const grid = useRef<HTMLTableElement>(null)

  const isAsking = tokenReason !== undefined
  /** The token that the items were listed with, or were to be. */
  const tried = useRef<string | undefined>('')
  // A token that comes with the address is used at once; one that is typed when that is done.
  useEffect(() => {
    if (isAsking || token === tried.current) return
    tried.current = token
    collection.refresh()
  }, [token, isAsking])
  const onProblem = (error: unknown) => {
    if (needsToken(error)) setTokenReason(wordsFor(error))
  }
  useEffect(() => onProblem(problem), [problem])

  const open = (text: string, item?: Item, isCopy = false) =>
    setDraft({ item, text, isCopy, key: performance.now() })
  const duplicate = (text: string) => open(copyOf(text), undefined, true)
  /** What comes late from another draft, or from one that was given up, changes nothing. */
  const changeDraft = ({ key }: Draft, changes: Partial<Draft> | undefined) =>
    setDraft((now) => (now?.key === key ? changes && { ...now, ...changes } : now))
  const addNew = () => open(newDraft(filter.project ?? null))

  async function exportAll(): Promise<void> {
    if (isExporting) return
    setExporting(true)
    setFailure('')
    try {
      download(await exportItems(service, new AbortController().signal), 'items.json')
    } catch (error) {
      setFailure(`Not exported. ${wordsFor(error)}`)
      onProblem(error)
    }
    setExporting(false)
  }

  function onKey(event: KeyboardEvent, item: Item | undefined): void {
    const actions: Record<string, (() => void) | undefined> = {
      n: addNew,
      d: item && (() => duplicate(item.text)),
      Delete: item && (() => setDoomed(item)),
      '/': () => search.current?.focus(),
      r: collection.refresh,
      '?': () => setDialog('help'),
    }
    const act = actions[event.key]
    if (!act) return
    event.preventDefault()
    act()
  }

  const close = () => setDialog(undefined)

  return (
    <>
      <header class="bar">
        <h1>Items</h1>
        <a href={pagePaths.docs}>API</a>
        <button type="button" onClick={() => setDialog('help')}>
          Keys
        </button>
        <button type="button" onClick={() => setTokenReason('')}>
          Token
        </button>
      </header>
      <main>
        <Toolbar
          {...{ filter, overview, view, isExporting, search }}
          onFilter={setFilter}
          onView={setView}
          onNew={addNew}
          onImport={() => setDialog('import')}
          onExport={exportAll}
          onColumns={() => setDialog('columns')}
          onRefresh={collection.refresh}
        />
        <Status
          {...{ loading, listedAt, news, problem, failure }}
          all={items.length}
          matching={matches.length}
          onRefresh={collection.refresh}
          onRead={() => setFailure('')}
          next={grid}
        />
        <ItemTable
          {...{ grid, view, columns, changed, onKey }}
          items={matches}
          active={active?.id}
          onActive={setActive}
          onOpen={(item) => open(item.text, item)}
        />
      </main>
      {draft && (
        <Edit
          {...{ service, onProblem }}
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
          onFound={(id, text) =>
            text === undefined ? collection.remove(id) : collection.put(text)
          }
          onSeen={(item) => changeDraft(draft, { item, isCopy: true })}
          onDelete={setDoomed}
          onDuplicate={duplicate}
          onClose={() => setDraft(undefined)}
        />
      )}
      {dialog === 'import' && (
        <Import {...{ service, onProblem }} onImported={collection.refresh} onClose={close} />
      )}
      {dialog === 'columns' && (
        <Columns {...{ overview, columns }} onChange={setChosen} onClose={close} />
      )}
      {dialog === 'help' && <Help onClose={close} />}
      {doomed && (
        <Delete
          {...{ service, onProblem }}
          item={doomed}
          onDeleted={() => {
            setDoomed(undefined)
            setDraft((now) => (now?.item?.id === doomed.id ? undefined : now))
            collection.remove(doomed.id)
            if (active?.id === doomed.id) setActive(nextTo(matches, doomed))
          }}
          onClose={() => setDoomed(undefined)}
        />
      )}
      {isAsking && (
        <TokenDialog
          reason={tokenReason}
          onUse={() => {
            tried.current = undefined // also the same one again
            setTokenReason(undefined)
          }}
          onClose={() => setTokenReason(undefined)}
        />
      )}
    </>
  )
}

/** The item after another one, or else the one before it. */
function nextTo(items: readonly Item[], item: Item): Item | undefined {
  const place = items.findIndex(({ id }) => id === item.id)
  return place < 0 ? undefined : (items[place + 1] ?? items[place - 1])
}

/** A text that is not JSON at the moment is copied as it is. */
function copyOf(text: string): string {
  try {
    return withoutId(text)
  } catch {
    return text
  }
}
