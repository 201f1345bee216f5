/** The bearer token of this browser tab, from session storage or `#token=` in the URL; empty if none. @module */

import { createState } from './state.js'
import { store, stored } from './storage.js'

const storageKey = 'item-store-token'

export const token = createState(stored('sessionStorage', storageKey) ?? '')
readAddress()
// Browsers do not reload the page if only the part after the `#` changes.
addEventListener('hashchange', readAddress)

export function changeToken(text: string): void {
  const next = text.trim().replace(/^bearer\s+/i, '') // tokens are often copied together with the word Bearer
  store('sessionStorage', storageKey, next)
  token.set(next)
}

function readAddress(): void {
  const parts = new URLSearchParams(location.hash.slice(1))
  const text = parts.get('token')
  if (text === null) return
  parts.delete('token')
  const rest = parts.size > 0 ? `#${parts}` : ''
  history.replaceState(history.state, '', location.pathname + location.search + rest)
  changeToken(text)
}
