/** The keyboard shortcuts. @module */

import { Dialog } from './dialog.js'

const keys: readonly (readonly [keys: string, meaning: string])[] = [
  ['↑ ↓', 'previous or next row'],
  ['Page up, Page down', 'one screen up or down'],
  ['Home, End', 'first or last row'],
  ['← →', 'previous or next column'],
  ['Enter', 'edit the value, or the item if it is the id'],
  ['e', 'edit the item'],
  ['v', 'show the whole value'],
  ['Space', 'select the row, or not'],
  ['Shift with ↑ ↓ …', 'select all rows on the way'],
  ['Ctrl or ⌘ + A', 'select all rows'],
  ['Ctrl or ⌘ + C', 'copy the selected items'],
  ['Escape', 'select none'],
  ['n', 'new item'],
  ['d', 'duplicate the item'],
  ['Delete', 'delete the selected items, or the item'],
  ['/', 'search'],
  ['?', 'show these keys'],
]
const headKeys: typeof keys = [
  ['Enter', 'sort by the column, or the other way around'],
  ['Shift + Enter', 'sort by it among what is equal so far'],
  ['Shift + ← →', 'narrower or wider'],
  ['Backspace', 'as wide as its values'],
  ['Ctrl or ⌘ + ← →', 'move the column'],
]
const cellKeys: typeof keys = [
  ['Enter', 'save'],
  ['Tab', 'save, and go to the next column'],
  ['Escape', 'leave it as it was'],
]
const editorKeys: typeof keys = [
  ['Ctrl or ⌘ + S', 'save'],
  ['Ctrl or ⌘ + Z', 'undo'],
  ['F8', 'next problem in the JSON'],
  ['Tab', 'leave the editor'],
  ['Escape', 'close; asks first if there are unsaved changes'],
]

export function Help({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Shortcuts" class="small" onClose={onClose}>
      <h3>In the list</h3>
      <Keys of={keys} />
      <h3>On the head of a column</h3>
      <Keys of={headKeys} />
      <h3>While editing a value in its cell</h3>
      <Keys of={cellKeys} />
      <h3>While editing an item</h3>
      <Keys of={editorKeys} />
      <div class="buttons">
        <button type="button" class="main last" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  )
}

function Keys({ of }: { of: typeof keys }) {
  return (
    <dl class="keys">
      {of.map(([key, meaning]) => (
        <div key={key}>
          <dt>{key}</dt>
          <dd>{meaning}</dd>
        </div>
      ))}
    </dl>
  )
}
