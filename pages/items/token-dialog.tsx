/** The token dialog, which opens by itself if there is no token, or if the service has rejected the token. @module */

import { useState } from 'preact/hooks'
import { Button } from '../shared/components.js'
import { TokenForm } from '../shared/token.js'
import { Dialog } from './dialog.js'
import { detailsOf, reasonOf } from './service.js'
import type { OverlayOf } from './state/overlay.js'
import type { Page } from './use-page.js'

export function TokenDialog({
  overlay,
  close: closeOverlay,
  applyToken,
}: Page & { readonly overlay: OverlayOf<'token'> }) {
  const problem = overlay.problem
  const close = () => closeOverlay('token')
  /** Whether the user is typing elsewhere. The token field must not take focus then, or it would get the typed text. */
  const [isTyping] = useState(() => Boolean(document.activeElement?.closest('input, .editor')))
  const details = detailsOf(problem)
  return (
    <Dialog title="Token" autofocus={isTyping} onClose={close}>
      {problem !== undefined && (
        <div class="problem" role="alert">
          <p>{details ? `This token was not accepted: ${causeOf(problem)}.` : reasonOf(problem)}</p>
          {details && <p class="id">{details}</p>}
        </div>
      )}
      <p>
        <code>item-store dev</code> prints one, and <code>item-store token --sub NAME</code> creates
        one.
      </p>
      {/* Enter in the token field submits `TokenForm`, and the `submit` event bubbles up to this element. */}
      <div
        onSubmit={applyToken}
        onFocusCapture={({ target }) => target instanceof HTMLInputElement && target.select()}
      >
        <TokenForm />
      </div>
      <div class="line foot">
        <Button onClick={close}>Close</Button>
        <Button class="main" onClick={applyToken}>
          Use this token
        </Button>
      </div>
    </Dialog>
  )
}

/** Returns why the service rejected a token, as the end of a sentence about the token. */
function causeOf(problem: unknown): string {
  return reasonOf(problem)
    .replace(/^The token is invalid: /, '')
    .replace(/^The token/, 'it')
}
