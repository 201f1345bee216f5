/** The bar with the buttons that copy, export and delete the selected items. @module */

import { useState } from 'preact/hooks'
import { Button } from '../../shared/components.js'
import { download } from '../../shared/download.js'
import { isCommand } from '../../shared/keys.js'
import { counted } from '../../shared/numbers.js'
import type { Item } from '../model/item.js'
import { createYield } from '../model/yield.js'
import { exportItems } from '../service/files.js'
import { messageFor } from '../service/requests.js'
import { open } from '../state/overlay.js'
import { selectNone } from '../state/selection.js'
import { Icon } from '../ui/icons.js'
import { useKeys } from '../ui/keys.js'

const run = 500 // items added to an export file in one step

export function SelectionBar({ items }: { items: readonly Item[] }) {
  const [done, setDone] = useState<{ items: readonly Item[]; outcome: string }>()

  /** @param what past participle for the messages, such as `copied`. */
  async function withFile(what: string, use: (file: Blob) => unknown): Promise<void> {
    try {
      await use(await exportItems(textsOf(items)))
      setDone({ items, outcome: what })
    } catch (error) {
      setDone({ items, outcome: `not ${what}: ${messageFor(error)}` })
    }
  }
  // Without TLS, browsers give the clipboard only to pages from the same machine.
  const { clipboard }: { clipboard: Clipboard | undefined } = navigator
  // A long string would block the page; a blob does not.
  const copy =
    clipboard &&
    (() =>
      withFile('copied', (file) => {
        const plain = new Blob([file], { type: 'text/plain' })
        return clipboard.write([new ClipboardItem({ 'text/plain': plain })])
      }))

  useKeys((key, event) => {
    if (key === 'Escape') selectNone()
    else if (key === 'c' && isCommand(event) && getSelection()?.isCollapsed) copy?.()
  })

  return (
    <section class="line" aria-label="Selection">
      <p role="status" translate={false}>
        {counted(items.length, 'item')} {done?.items === items ? done.outcome : 'selected'}
      </p>
      {copy && (
        <Button onClick={copy}>
          Copy <span class="unseen">JSON of the selected items</span>
        </Button>
      )}
      <Button onClick={() => withFile('exported', (file) => download(file, 'selected-items.json'))}>
        Export <span class="unseen">the selected items</span>
      </Button>
      <Button class="danger" onClick={() => open({ kind: 'delete', items })}>
        Delete <span class="unseen">the selected items</span>
      </Button>
      <Button class="quiet" title="Select none" onClick={selectNone}>
        <Icon name="close" /> <span class="unseen">Select none</span>
      </Button>
    </section>
  )
}

async function* textsOf(items: readonly Item[]): AsyncGenerator<string[], void, void> {
  const yieldIfDue = createYield()
  for (let at = 0; at < items.length; at += run) {
    await yieldIfDue()
    yield items.slice(at, at + run).map(({ text }) => text)
  }
}
