/**
 * The bearer token of this tab, or an empty string. The tab's session storage keeps the token for reloads and for the
 * other page. A token can also come from the address, after `#token=`. The page removes the token from the address at
 * once.
 *
 * @module
 */

import { store, stored } from './storage.js'

type Listener = (token: string) => void

const storageKey = 'item-store-token'
const listeners = new Set<Listener>()

let current = stored('sessionStorage', storageKey) ?? ''
readAddress()
// Browsers do not reload a page when only the part of the address after the `#` changes.
addEventListener('hashchange', readAddress)

export function currentToken(): string {
  return current
}

export function changeToken(token: string): void {
  current = token.trim().replace(/^bearer\s+/i, '') // tokens are often copied together with the word Bearer
  store('sessionStorage', storageKey, current)
  for (const listener of listeners) listener(current)
}

/** Calls a listener whenever the token changes. @returns a function that removes the listener. */
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
