/** The bar at the top of the page: product name, page links, list state, and the token's subject and expiry. @module */

import { pagePaths } from '../../../src/interface/paths.js'
import { urlOf } from '../../shared/address.js'
import { Brand, Button } from '../../shared/components.js'
import { TokenWords } from '../../shared/token.js'
import { useList } from '../state/list.js'
import { open } from '../state/overlay.js'

/** Whether the service serves the API page; otherwise it leaves out this `link` element. */
const hasApiPage = document.querySelector('link[rel=service-doc]') !== null

export function Header() {
  const { listedAt, problem } = useList()
  const isFailing = problem !== undefined
  return (
    <header class="line bar">
      <Brand />
      <nav class="line" aria-label="Pages">
        <h1>Items</h1>
        {hasApiPage && <a href={urlOf(pagePaths.docs)}>API</a>}
      </nav>
      <span class={`dot ${isFailing ? 'failing' : listedAt ? 'good' : ''}`}>
        {isFailing ? 'Not connected' : listedAt ? 'Live' : 'Not loaded'}
      </span>
      <Button class="quiet" onClick={() => open({ kind: 'token' })}>
        <TokenWords />
      </Button>
      <Button class="quiet keys" onClick={() => open({ kind: 'help' })}>
        Shortcuts
      </Button>
    </header>
  )
}
