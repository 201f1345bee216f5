/** The notice that another version of the item is stored than the one that the typed text replaces. @module */

import { Button } from '../../shared/components.js'
import { layOut } from '../../shared/json-layout.js'
import { memberText } from '../model/item.js'
import type { Session } from '../state/session.js'

interface ConflictProps {
  readonly session: Session
  readonly onKeep: () => void // saves the typed text in place of the stored version
  readonly onAdopt?: () => void
}

export function Conflict({ session, onKeep, onAdopt }: ConflictProps) {
  const { state, stored, name } = session
  if (state !== 'conflict') return null
  const now = stored && (name === undefined ? stored.text : memberText(stored, name))
  return (
    <div class="problem" role="alert">
      <p>{newsOf(session)}</p>
      {now !== undefined && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: without it, the keyboard cannot scroll
        <pre tabIndex={0} translate={false}>
          {layOut(now)}
        </pre>
      )}
      <div class="line">
        <Button onClick={onKeep}>{stored ? 'Overwrite with mine' : 'Save as a new item'}</Button>
        {stored && onAdopt && <Button onClick={onAdopt}>Edit the other version</Button>}
      </div>
    </div>
  )
}

function newsOf({ item, stored, name }: Session): string {
  if (!stored) return 'This item was deleted.'
  if (item?.text === '') return 'Your earlier attempt to save succeeded. The item is now:'
  return `This item was changed elsewhere. ${name === undefined ? 'It' : 'The value'} is now:`
}
