/** The status line below the list, with the number of items, the latest changes, and errors. @module */

import type { RenderableProps } from 'preact'
import { Button } from '../../shared/components.js'
import { counted, formatted } from '../../shared/numbers.js'
import { token } from '../../shared/session.js'
import type { Item } from '../model/item.js'
import { messageFor, needsToken } from '../service/requests.js'
import { collection, useList } from '../state/list.js'
import { failure, isAskingForToken, open, overlays } from '../state/overlay.js'
import { useSelected } from '../state/selection.js'
import { SelectionBar } from './selection-bar.js'

export function Status({ rows }: { rows: readonly Item[] }) {
  const { items, loading, share, listedAt, problem } = useList()
  const failed = failure.use()
  const isAsking = isAskingForToken(overlays.use())
  const hasToken = token.use() !== ''
  const selected = useSelected(rows)
  const matching = rows.length
  const isSaid = failed || isAsking || (!listedAt && !hasToken) // something else says what is wrong
  const all = items.length
  const isFirst = listedAt === undefined
  const retry = loading === undefined ? 'Try again' : 'Trying again…'
  return (
    <div class="line status">
      {isFirst && loading !== undefined && (
        <p>
          <progress aria-label="Loading" value={share} /> {counted(loading, 'item')} loaded
          {matching !== all && `, ${formatted(matching)} found`}
        </p>
      )}
      {listedAt && (
        <p role="status" translate={false}>
          {matching === all
            ? counted(all, 'item')
            : `${formatted(matching)} of ${counted(all, 'item')}`}
        </p>
      )}
      {problem !== undefined && !isSaid && (
        <Problem
          action={needsToken(problem) ? 'Enter a token' : retry}
          onAction={needsToken(problem) ? () => open({ kind: 'token' }) : collection.refresh}
        >
          {listedAt
            ? `This is the list as of ${listedAt.toLocaleTimeString('en-GB')}`
            : 'The list cannot be shown'}
          : {needsToken(problem) ? 'another token is needed' : messageFor(problem)}
        </Problem>
      )}
      {failed && (
        <Problem action="Close" onAction={() => failure.set('')}>
          {failed}
        </Problem>
      )}
      {selected.length > 0 && <SelectionBar items={selected} />}
    </div>
  )
}

type ProblemProps = RenderableProps<{ action: string; onAction: () => void }>

function Problem({ action, onAction, children }: ProblemProps) {
  return (
    <p class="problem" role="alert">
      <span>{children}</span>
      <Button onClick={onAction}>{action}</Button>
    </p>
  )
}
