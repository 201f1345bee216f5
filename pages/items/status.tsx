/** The status line below the list, with the number of items, the latest changes, and errors. @module */

import type { RenderableProps } from 'preact'
import { Button } from '../shared/components.js'
import { counted, formatted } from '../shared/numbers.js'
import { SelectionBar } from './selection-bar.js'
import { messageFor, needsToken } from './service.js'
import type { Page } from './use-page.js'

export function Status(page: Page) {
  const { items, matches, loading, share, listedAt, news, listProblem, failure } = page
  const all = items.length
  const matching = matches.items.length
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
          {news && <span class="news"> · {news}</span>}
        </p>
      )}
      {listProblem !== undefined && (
        <Problem
          action={needsToken(listProblem) ? 'Enter a token' : retry}
          onAction={
            needsToken(listProblem) ? () => page.open({ kind: 'token' }) : page.collection.refresh
          }
        >
          {listedAt
            ? `This is the list as of ${listedAt.toLocaleTimeString('en-GB')}`
            : 'The list cannot be shown'}
          : {needsToken(listProblem) ? 'another token is needed' : messageFor(listProblem)}
        </Problem>
      )}
      {failure && (
        <Problem action="Close" onAction={() => page.setFailure('')}>
          {failure}
        </Problem>
      )}
      {page.isSelected && <SelectionBar {...page} />}
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
