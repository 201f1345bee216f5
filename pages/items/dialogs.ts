/** What is opened above the list, as one file to load after the list. @module */

export { CellEditor } from './cell-editor.js'
export { Columns } from './columns.js'
export { Delete } from './delete.js'
export { Edit } from './edit.js'
export { Help } from './help.js'
export { Import } from './import.js'
export { exportItems } from './items-file.js'
export { Peek } from './peek.js'
