/**
 * The token of this tab. It is kept in memory, and in the tab's session storage only if the user asks for
 * that. It can be in the address, after `#token=`, from where it is removed at once.
 *
 * @module
 */

export interface Session {
  /** Without `Bearer`; empty if there is none. */
  readonly token: string
  /** Whether it survives reloading, and following the link to the other page in the same tab. */
  readonly isKept: boolean
}

type Listener = (session: Session) => void

const storageKey = 'item-store-token'
const listeners = new Set<Listener>()

let session: Session = { token: '', isKept: false }
readStorage()
readAddress()
// An address that differs only after the `#` does not reload the page.
addEventListener('hashchange', readAddress)

export function currentSession(): Session {
  return session
}

/** Changes the token, or where it is kept. */
export function changeSession(changes: Partial<Session>): void {
  const changed = { ...session, ...changes, token: cleaned(changes.token ?? session.token) }
  session = { ...changed, isKept: store(changed) }
  for (const listener of listeners) listener(session)
}

/** Copied tokens often have `Bearer` in front of them. */
function cleaned(token: string): string {
  return token.trim().replace(/^bearer\s+/i, '')
}

/** @returns unsubscribes the listener. */
export function onSessionChange(listener: Listener): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

function readAddress(): void {
  const members = new URLSearchParams(location.hash.slice(1))
  const token = members.get('token')
  if (token === null) return
  history.replaceState(history.state, '', location.pathname + location.search)
  changeSession({ token })
}

function readStorage(): void {
  try {
    const token = sessionStorage.getItem(storageKey)
    if (token !== null) session = { token, isKept: true }
  } catch {
    // This browser does not store anything for pages.
  }
}

/** @returns whether the token is kept. */
function store({ token, isKept }: Session): boolean {
  try {
    if (isKept) sessionStorage.setItem(storageKey, token)
    else sessionStorage.removeItem(storageKey)
    return isKept
  } catch {
    return false
  }
}
