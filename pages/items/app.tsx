/** The items page: toolbar, list, panel, and what lies over them. @module */

import type { ComponentType } from 'preact'
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
import type { Overlay, OverlayOf } from './state/overlay.js'
import { Status } from './status.js'
import { ItemTable } from './table.js'
import { TokenDialog } from './token-dialog.js'
import { Toolbar } from './toolbar.js'
import { type Page, usePage } from './use-page.js'

type View<K extends Overlay['kind']> = ComponentType<Page & { readonly overlay: OverlayOf<K> }>

/** Component of each kind of overlay. */
const views: { readonly [K in Overlay['kind']]: View<K> } = {
  cell: CellEditor,
  columns: Columns,
  delete: Delete,
  help: Help,
  import: Import,
  menu: () => null, // part of the toolbar
  peek: Peek,
  token: TokenDialog,
}

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
      {overlays.map((overlay) => {
        const View = views[overlay.kind] as ComponentType<Page & { overlay: Overlay }> // the table has the view of each kind
        return <View key={keyFor(overlay)} {...page} overlay={overlay} />
      })}
    </>
  )
}

function keyFor(overlay: Overlay): string {
  const { kind } = overlay
  return 'name' in overlay ? `${kind} ${overlay.item.id} ${overlay.name}` : kind
}
