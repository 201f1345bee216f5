/** The items page: toolbar, list, panel, and what lies over them. Only this file knows all features. @module */

import type { ComponentChild, FunctionComponent } from 'preact'
import { Conditions } from './bar/conditions.js'
import { Header } from './bar/header.js'
import { NoRows } from './bar/no-rows.js'
import { Status } from './bar/status.js'
import { Toolbar } from './bar/toolbar.js'
import { Columns } from './dialogs/columns.js'
import { Delete } from './dialogs/delete.js'
import { Help } from './dialogs/help.js'
import { Import } from './dialogs/import.js'
import { TokenDialog } from './dialogs/token.js'
import { CellEditor } from './edit/cell-editor.js'
import { Panel } from './edit/panel.js'
import { Grid } from './list/grid.js'
import { Popover } from './list/popover.js'
import type { Item } from './model/item.js'
import './state/history.js'
import { cursor } from './state/cursor.js'
import { useList, useRows } from './state/list.js'
import { close, type Overlay, type OverlayOf, open, overlays } from './state/overlay.js'
import { addNew, edit, panel, useSession } from './state/panel.js'
import { useSelected } from './state/selection.js'
import { copyOf, isUnseen } from './state/session.js'
import { useKeys } from './ui/keys.js'
import { useKeptFocus } from './ui/use-kept-focus.js'

type ViewProps = { readonly rows: readonly Item[]; readonly onClose: () => void }

const views: {
  readonly [K in Overlay['kind']]: (props: OverlayOf<K> & ViewProps) => ComponentChild
} = {
  cell: CellEditor,
  columns: Columns,
  delete: Delete,
  help: Help,
  import: Import,
  peek: Popover,
  token: TokenDialog,
}

export function App() {
  const opened = overlays.use()
  const { loading, listedAt, problem } = useList()
  const rows = useRows()
  const selected = useSelected(rows)
  const session = useSession(panel)
  useKeptFocus('[role=grid]')

  useKeys((key, event) => {
    const item = rows.find(({ id }) => id === cursor.get().id)
    const chosen = selected.length > 0 ? selected : item && [item]
    const actions: Record<string, (() => void) | false | undefined> = {
      n: addNew,
      d: item && (() => panel.dispatch({ type: 'go', to: copyOf(item.text) })),
      e: item && (() => edit(item)),
      Delete: chosen && (() => open({ kind: 'delete', items: chosen })),
      '?': () => open({ kind: 'help' }),
      Escape:
        session && selected.length === 0 && (() => panel.dispatch({ type: 'go', to: 'close' })),
    }
    const act = actions[key]
    if (!act) return
    event.preventDefault()
    act()
  })

  return (
    <>
      <Header />
      <main>
        <Toolbar />
        <Conditions />
        <Grid rows={rows} />
        {rows.length === 0 && (listedAt || problem || loading === undefined) && <NoRows />}
        <Status rows={rows} />
      </main>
      {session && !isUnseen(session) && <Panel key={session.key} {...{ session, rows }} />}
      {opened.map((overlay) => {
        const View = views[overlay.kind] as FunctionComponent<Overlay & ViewProps> // the one for this kind
        const onClose = () => close(overlay.kind)
        return <View key={keyFor(overlay)} {...overlay} {...{ rows, onClose }} />
      })}
    </>
  )
}

function keyFor(overlay: Overlay): string {
  const { kind } = overlay
  return 'name' in overlay ? `${kind} ${overlay.item.id} ${overlay.name}` : kind
}
