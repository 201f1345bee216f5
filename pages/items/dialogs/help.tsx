/** The dialog that lists the keyboard shortcuts. @module */

import { Button } from '../../shared/components.js'
import { Dialog } from '../ui/dialog.js'

const shortcuts: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'In the list': {
    '↑ ↓': 'previous or next row',
    'Page up, Page down': 'one screen up or down',
    'Home, End': 'first or last row',
    '← →': 'previous or next column',
    Enter: 'edit the value; on the id, the item',
    e: 'edit the item',
    v: 'show the whole value',
    Space: 'select or unselect the row',
    'Shift + ↑ ↓': 'select more rows',
    'Ctrl or ⌘ + A': 'select all rows',
    'Ctrl or ⌘ + C': 'copy the selected items',
    Escape: 'select none',
    n: 'new item',
    d: 'duplicate the item',
    Delete: 'delete the selection, or the item',
    '/': 'search; ↓ moves to the list',
    '?': 'show these keys',
  },
  'On the head of a column': {
    Enter: 'sort by the column, reverse the order, or end it',
  },
  'While editing a value in its cell': {
    Enter: 'save',
    Tab: 'save, and go to the next column',
    Escape: 'cancel',
  },
  'While editing an item': {
    'Ctrl or ⌘ + S': 'save',
    'Ctrl or ⌘ + Z': 'undo',
    'Alt + ↑ ↓': 'previous or next row',
    F8: 'next problem in the JSON',
    Tab: 'leave the editor',
    Escape: 'close; asks first if it has changes',
  },
}

const separator = /( \+ | or |, | (?=[↓→]))/ // between keys; the group makes `split` keep it

export function Help({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Shortcuts" autofocus onClose={onClose}>
      <div class="shortcuts">
        {Object.entries(shortcuts).map(([where, keys]) => (
          <section key={where}>
            <h3>{where}</h3>
            <dl>
              {Object.entries(keys).map(([key, meaning]) => (
                <div key={key}>
                  <dt>
                    {key
                      .split(separator)
                      .map((part, at) => (at % 2 === 0 ? <kbd key={part}>{part}</kbd> : part))}
                  </dt>
                  <dd>{meaning}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <div class="line foot">
        <Button class="main" onClick={onClose}>
          Close
        </Button>
      </div>
    </Dialog>
  )
}
