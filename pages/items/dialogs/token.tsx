/** The token dialog, which opens by itself if there is no token, or if the service has rejected the token. @module */

import { useState } from 'preact/hooks'
import { Button } from '../../shared/components.js'
import { TokenForm } from '../../shared/token.js'
import { detailsOf, reasonOf } from '../service/requests.js'
import { tryTokenAgain } from '../state/list.js'
import { Dialog } from '../ui/dialog.js'

/** @param problem error that opened the dialog, if any. */
export function TokenDialog(props: { problem?: unknown; onClose: () => void }) {
  const { problem, onClose } = props
  const apply = () => {
    tryTokenAgain()
    onClose()
  }
  /** Whether the user is typing elsewhere. The token field would get the rest if it took the focus. */
  const [isTyping] = useState(() => Boolean(document.activeElement?.closest('input, .editor')))
  const details = detailsOf(problem)
  return (
    <Dialog title="Token" autofocus={isTyping} onClose={onClose}>
      {problem !== undefined && (
        <div class="problem" role="alert">
          <p>{reasonOf(problem)}</p>
          {details && <p class="id">{details}</p>}
        </div>
      )}
      <p>
        <code>item-store dev</code> prints one, and <code>item-store token --sub NAME</code> creates
        one.
      </p>
      {/* Enter in the token field submits `TokenForm`, and the `submit` event bubbles up to this element. */}
      <div
        onSubmit={apply}
        onFocusCapture={({ target }) => target instanceof HTMLInputElement && target.select()}
      >
        <TokenForm />
      </div>
      <div class="line foot">
        <Button onClick={onClose}>Close</Button>
        <Button class="main" onClick={apply}>
          Use this token
        </Button>
      </div>
    </Dialog>
  )
}
