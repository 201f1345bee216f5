/** The form for the token. @module */

import { useEffect, useState } from 'preact/hooks'
import { changeToken, currentToken, onTokenChange } from './session.js'

/** The token of this tab; the component renders again when it changes. */
export function useToken(): string {
  const [token, setToken] = useState(currentToken)
  useEffect(() => onTokenChange(setToken), [])
  return token
}

/** Each change takes effect at once: there is nothing to submit. */
export function TokenForm() {
  return (
    <form class="line token-form" onSubmit={(event) => event.preventDefault()}>
      <label class="line">
        Token
        <input
          type="password"
          name="token"
          autocomplete="off"
          spellcheck={false}
          placeholder="eyJ…"
          value={useToken()}
          onInput={(event) => changeToken(event.currentTarget.value)}
        />
      </label>
    </form>
  )
}
