/** The token of this browser tab: a field to enter the token, and the token's subject and expiry in words. @module */

import { useEffect, useReducer } from 'preact/hooks'
import { claimsOf } from './claims.js'
import { changeToken, token } from './session.js'

/** The form for a token. It has no submit button, because each change takes effect at once. */
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
          autofocus
          placeholder="eyJ…"
          value={token.use()}
          onInput={(event) => changeToken(event.currentTarget.value)}
        />
      </label>
    </form>
  )
}

export function TokenWords() {
  const text = token.use()
  const [, redraw] = useReducer((count: number) => count + 1, 0)
  useEffect(() => {
    const timer = setInterval(redraw, 60_000) // the time until expiry is shown in minutes
    return () => clearInterval(timer)
  }, [])
  const claims = claimsOf(text)
  if (!claims) return text ? 'Unreadable token' : 'Enter a token'
  return (
    <>
      Token of <b>{claims.subject}</b>
      <span class="wide">, {claims.expiry}</span>
    </>
  )
}
