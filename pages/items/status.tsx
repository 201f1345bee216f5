/** How many items there are, as of when, and what went wrong. @module */

import type { ComponentChildren, RefObject } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { counted, formatted } from '../shared/numbers.js'
import { messageFor, needsToken } from './service.js'

export interface StatusProps {
  readonly all: number
  readonly matching: number
  readonly loading: number | undefined
  readonly share: number | undefined
  readonly listedAt: Date | undefined
  readonly news: string
  readonly listProblem: unknown
  /** What else failed, in words. */
  readonly failure: string
  readonly onRefresh: () => void
  readonly onToken: () => void
  readonly onDismiss: () => void
  /** What gets the focus when the button that has it disappears. */
  readonly next: RefObject<HTMLElement | null>
  readonly children: ComponentChildren
}

export function Status(props: StatusProps) {
  const { all, matching, loading, share, listedAt, news, listProblem, failure, next } = props
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
        <p role="status">
          {matching === all
            ? counted(all, 'item')
            : `${formatted(matching)} of ${counted(all, 'item')}`}
          {news && <span class="news"> · {news}</span>}
        </p>
      )}
      {listProblem !== undefined && (
        <Problem
          action={needsToken(listProblem) ? 'Enter a token' : retry}
          onAction={needsToken(listProblem) ? props.onToken : props.onRefresh}
          next={next}
        >
          {listedAt
            ? `This is the list as of ${listedAt.toLocaleTimeString('en-GB')}`
            : 'The list cannot be shown'}
          : {messageFor(listProblem)}
        </Problem>
      )}
      {failure && (
        <Problem action="Close" onAction={props.onDismiss} next={next}>
          {failure}
        </Problem>
      )}
      {props.children}
    </div>
  )
}

interface ProblemProps {
  readonly action: string
  readonly onAction: () => void
  readonly next: StatusProps['next']
  readonly children: ComponentChildren
}

function Problem({ action, onAction, next, children }: ProblemProps) {
  const button = useRef<HTMLButtonElement>(null)
  useLayoutEffect(
    () => () => {
      if (document.activeElement === button.current) next.current?.focus()
    },
    [],
  )
  return (
    <p class="problem" role="alert">
      {children}{' '}
      <button ref={button} type="button" onClick={onAction}>
        {action}
      </button>
    </p>
  )
}
