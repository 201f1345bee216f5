/** The items page: toolbar, list, panel, and what lies over them. @module */

import { useLayoutEffect } from 'preact/hooks'
import { Columns } from './columns.js'
import { Conditions } from './conditions.js'
import { Delete } from './delete.js'
import { CellEditor } from './edit/cell-editor.js'
import { Edit } from './edit/panel.js'
import { Header } from './header.js'
import { Help } from './help.js'
import { Import } from './import.js'
import { NoRows } from './no-rows.js'
import { Peek } from './peek.js'
import type { Overlay } from './state/overlay.js'
import { Status } from './status.js'
import { ItemTable } from './table.js'
import { TokenDialog } from './token-dialog.js'
import { Toolbar } from './toolbar.js'
import { type Page, usePage } from './use-page.js'

export function App() {
  const page = usePage()
  const { session, overlays, grid } = page
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
        {page.isFiltered && <Conditions {...page} />}
        <ItemTable {...page} />
        {page.isEmpty && <NoRows {...page} />}
        <Status {...page} />
      </main>
      {session && <Edit key={session.key} {...page} session={session} />}
      {overlays.map((overlay) => (
        <Over key={keyFor(overlay)} page={page} overlay={overlay} />
      ))}
    </>
  )
}

function Over({ page, overlay }: { readonly page: Page; readonly overlay: Overlay }) {
  switch (overlay.kind) {
    case 'cell':
      return <CellEditor {...page} overlay={overlay} />
    case 'columns':
      return <Columns {...page} />
    case 'delete':
      return <Delete {...page} overlay={overlay} />
    case 'help':
      return <Help {...page} />
    case 'import':
      return <Import {...page} />
    case 'menu':
      return null // the toolbar contains the menu
    case 'peek':
      return <Peek {...page} overlay={overlay} />
    case 'token':
      return <TokenDialog {...page} overlay={overlay} />
  }
}

function keyFor(overlay: Overlay): string {
  const { kind } = overlay
  return 'name' in overlay ? `${kind} ${overlay.item.id} ${overlay.name}` : kind
}
