/** The status line below the list, with the number of items, the latest changes, and errors. @module */

import type { RenderableProps } from 'preact'
import { Button } from '../../shared/components.js'
import { counted, formatted } from '../../shared/numbers.js'
import type { Item } from '../model/item.js'
import { messageFor, needsToken } from '../service/requests.js'
import { collection, useList } from '../state/list.js'
import { failure, open } from '../state/overlay.js'
import { SelectionBar } from './selection-bar.js'

interface StatusProps {
  readonly matching: number // number of items that match the filter
  readonly selected: readonly Item[]
  readonly problem: unknown // error to show for the list, if any
}

export function Status({ matching, selected, problem }: StatusProps) {
  const { items, loading, share, listedAt } = useList()
  const failed = failure.use()
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
      {problem !== undefined && (
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
