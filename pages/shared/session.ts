/**
 * The token of this tab. It is in memory, and in the session storage of the tab only if the person asks
 * for that. It can come with the address, after `#token=`, from where it is removed at once.
 *
 * @module
 */

export interface Session {
  /** Without the scheme; empty if there is none. */
  readonly token: string
  /** Whether a reload of the page, or a link to the other page in the same tab, still has it. */
  readonly isKept: boolean
}

type Listener = (session: Session) => void

const storageKey = 'item-store-token'
const listeners = new Set<Listener>()

let session: Session = { token: '', isKept: false }
readStorage()
readAddress()
// An address that differs only after the `#` does not load the page anew.
addEventListener('hashchange', readAddress)

export function currentSession(): Session {
  return session
}

/** Takes another token, or keeps it in another place. */
export function changeSession(changes: Partial<Session>): void {
  const changed = { ...session, ...changes, token: cleaned(changes.token ?? session.token) }
  session = { ...changed, isKept: store(changed) }
  for (const listener of listeners) listener(session)
}

/** What is copied often has the scheme with it. */
function cleaned(token: string): string {
  return token.trim().replace(/^bearer\s+/i, '')
}

/** @returns ends the calls. */
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
    // This browser keeps nothing for pages.
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
