/** The items page: toolbar, list and dialogs. @module */

import { useLayoutEffect } from 'preact/hooks'
import { Header } from './header.js'
import { Status } from './status.js'
import { ItemTable } from './table.js'
import { Toolbar } from './toolbar.js'
import { usePage } from './use-page.js'

export function App() {
  const page = usePage()
  const { dialogs, peeked, draft, cell, dialog, toDelete, asking, grid } = page
  const focused = document.activeElement
  useLayoutEffect(() => {
    if (focused?.isConnected) return
    // Focuses the list if the focused element was removed, unless a closing dialog has already moved the focus.
    queueMicrotask(() => document.activeElement === document.body && grid.current?.focus())
  })
  return (
    <>
      <Header {...page} />
      <main>
        <Toolbar {...page} />
        {dialogs && page.isFiltered && <dialogs.Conditions {...page} />}
        <ItemTable {...page} />
        {dialogs && page.isEmpty && <dialogs.NoRows {...page} />}
        <Status {...page} />
      </main>
      {dialogs && (
        <>
          {peeked && (
            <dialogs.Peek key={`${peeked.item.id} ${peeked.name}`} {...page} peeked={peeked} />
          )}
          {draft && <dialogs.Edit key={draft.key} {...page} draft={draft} />}
          {cell && <dialogs.CellEditor {...page} cell={cell} />}
          {dialog === 'import' && <dialogs.Import {...page} />}
          {dialog === 'columns' && <dialogs.Columns {...page} />}
          {dialog === 'help' && <dialogs.Help {...page} />}
          {toDelete && <dialogs.Delete {...page} toDelete={toDelete} />}
          {asking && <dialogs.TokenDialog {...page} />}
        </>
      )}
    </>
  )
}
