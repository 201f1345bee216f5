/** The line at the top: product and pages, whether the list is live, and whose token it is. @module */

import { useEffect, useReducer } from 'preact/hooks'
import { pagePaths } from '../../src/interface/names.js'
import { claimsOf } from '../shared/claims.js'
import { Brand, Button } from '../shared/components.js'

export interface HeaderProps {
  readonly token: string
  /** Whether there is a list, and it is followed. */
  readonly isLive: boolean
  readonly isFailing: boolean
  readonly onHelp: () => void
  readonly onToken: () => void
}

/** The build leaves this link out of the HTML for services without the API page. */
const hasApiPage = document.querySelector('link[rel=service-doc]') !== null
/** How often the time until the token expires is shown anew, in milliseconds. */
const minute = 60_000

export function Header({ token, isLive, isFailing, onHelp, onToken }: HeaderProps) {
  const [, redraw] = useReducer((count: number) => count + 1, 0)
  useEffect(() => {
    const timer = setInterval(redraw, minute)
    return () => clearInterval(timer)
  }, [])
  const claims = claimsOf(token)
  return (
    <header class="line bar">
      <Brand />
      <nav class="line" aria-label="Pages">
        <h1>Items</h1>
        {hasApiPage && <a href={pagePaths.docs}>API</a>}
      </nav>
      <span class={`live ${isFailing ? 'failing' : isLive ? 'good' : ''}`}>
        {isFailing ? 'Not connected' : isLive ? 'Live' : 'Not loaded'}
      </span>
      <Button class="quiet" onClick={onToken}>
        {token && !claims ? 'Unreadable token' : 'Token'}
        {claims && (
          <>
            {' '}
            of <b>{claims.subject}</b>
            <span class="wide">, {claims.expiry}</span>
          </>
        )}
      </Button>
      <Button class="quiet keys" onClick={onHelp}>
        Shortcuts
      </Button>
    </header>
  )
}
