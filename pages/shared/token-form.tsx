/** The form for the token. @module */

import { useEffect, useState } from 'preact/hooks'
import { changeSession, currentSession, onSessionChange, type Session } from './session.js'

/** The token of this tab; the component renders again when it changes. */
export function useSession(): Session {
  const [session, setSession] = useState(currentSession)
  useEffect(() => onSessionChange(setSession), [])
  return session
}

/** Each change takes effect at once: there is nothing to submit. */
export function TokenForm() {
  const { token, isKept } = useSession()
  return (
    <form class="token-form" onSubmit={(event) => event.preventDefault()}>
      <label>
        Token
        <input
          type="password"
          name="token"
          autocomplete="off"
          spellcheck={false}
          placeholder="eyJ…"
          value={token}
          onInput={(event) => changeSession({ token: event.currentTarget.value })}
        />
      </label>
      <label>
        <input
          type="checkbox"
          name="keep"
          checked={isKept}
          onInput={(event) => changeSession({ isKept: event.currentTarget.checked })}
        />
        Keep until this tab is closed
      </label>
    </form>
  )
}
