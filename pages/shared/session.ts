/**
 * The token of this tab, without `Bearer`; empty if there is none. It is in the tab's session storage, so that it
 * survives reloading and is there on the other page. It can be in the address, after `#token=`, from where it is
 * removed at once.
 *
 * @module
 */

import { store, stored } from './storage.js'

type Listener = (token: string) => void

const storageKey = 'item-store-token'
const listeners = new Set<Listener>()

let current = stored('sessionStorage', storageKey) ?? ''
readAddress()
// An address that differs only after the `#` does not reload the page.
addEventListener('hashchange', readAddress)

export function currentToken(): string {
  return current
}

export function changeToken(token: string): void {
  current = token.trim().replace(/^bearer\s+/i, '') // copied tokens often have it in front of them
  store('sessionStorage', storageKey, current)
  for (const listener of listeners) listener(current)
}

/** @returns unsubscribes the listener. */
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
