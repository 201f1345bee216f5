/** The bar at the top: product, pages, state of the list, and subject and expiry of the token. @module */

import { useEffect, useReducer } from 'preact/hooks'
import { pagePaths } from '../../src/interface/names.js'
import { claimsOf } from '../shared/claims.js'
import { Brand, Button } from '../shared/components.js'

export interface HeaderProps {
  readonly token: string
  /** Whether the list has been loaded and is kept up to date. */
  readonly isLive: boolean
  readonly isFailing: boolean
  readonly onHelp: () => void
  readonly onToken: () => void
}

/** Whether the service also serves the API page. If not, the HTML of this page has no link to it. */
const hasApiPage = document.querySelector('link[rel=service-doc]') !== null
/** Interval at which the time until the token expires is updated, in milliseconds. */
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
