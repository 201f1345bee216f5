/** Which keys do what. @module */

import { Dialog } from './dialog.js'

const keys: readonly (readonly [keys: string, meaning: string])[] = [
  ['↑ ↓', 'another row'],
  ['Page up, Page down', 'a window further'],
  ['Home, End', 'first and last row'],
  ['← →', 'scroll sideways'],
  ['Enter', 'edit the item'],
  ['n', 'new item'],
  ['d', 'duplicate the item'],
  ['Delete', 'delete the item'],
  ['/', 'search'],
  ['r', 'list again now'],
  ['?', 'these keys'],
]
const editorKeys: typeof keys = [
  ['Ctrl or ⌘ + S', 'save'],
  ['Ctrl or ⌘ + Z', 'undo'],
  ['F8', 'next problem in the JSON'],
  ['Tab', 'out of the editor'],
  ['Escape', 'close; asks if something is not saved'],
]

export function Help({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keys" class="small" onClose={onClose}>
      <h3>In the list</h3>
      <Keys of={keys} />
      <h3>While an item is edited</h3>
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
