/** The bearer token of this browser tab, from session storage or `#token=` in the URL; empty if none. @module */

import { store, stored } from './storage.js'

type Listener = (token: string) => void

const storageKey = 'item-store-token'
const listeners = new Set<Listener>()

let current = stored('sessionStorage', storageKey) ?? ''
readAddress()
// Browsers do not reload the page if only the part of the URL after the `#` changes.
addEventListener('hashchange', readAddress)

export function currentToken(): string {
  return current
}

export function changeToken(token: string): void {
  current = token.trim().replace(/^bearer\s+/i, '') // tokens are often copied together with the word Bearer
  store('sessionStorage', storageKey, current)
  for (const listener of listeners) listener(current)
}

export function onTokenChange(listener: Listener): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

function readAddress(): void {
  const token = new URLSearchParams(location.hash.slice(1)).get('token')
  if (token === null) return
  history.replaceState(history.state, '', location.pathname + location.search)
  changeToken(token)
}
