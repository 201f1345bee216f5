/** What is not there at first: dialogs, the panel, and lines that appear. One file, loaded after the list. @module */

export { CellEditor } from './cell-editor.js'
export { Columns } from './columns.js'
export { Conditions } from './conditions.js'
export { Delete } from './delete.js'
export { Edit } from './edit.js'
export { Help } from './help.js'
export { Import } from './import.js'
export { exportItems } from './items-file.js'
export { NoRows } from './no-rows.js'
export { Peek } from './peek.js'
export { SelectionBar } from './selection-bar.js'
export { TokenDialog } from './token-dialog.js'
