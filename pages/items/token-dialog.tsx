/** The dialog that asks for a token: at first, and when the service has rejected the current token. @module */

import { Button, TokenForm } from '../shared/components.js'
import { Dialog } from './dialog.js'

export interface TokenDialogProps {
  readonly reason: string
  readonly onUse: () => void
  readonly onClose: () => void
}

export function TokenDialog({ reason, onUse, onClose }: TokenDialogProps) {
  return (
    // If the dialog opens by itself, text that is being typed elsewhere must not go into the token field.
    <Dialog title="Token" autofocus={reason !== ''} onClose={onClose}>
      {reason && (
        <p class="problem" role="alert">
          {reason}
        </p>
      )}
      <p>
        <code>item-store dev</code> prints one, and <code>item-store token --sub NAME</code> creates
        one.
      </p>
      {/* Enter in the token field submits its form. */}
      <div onSubmit={onUse}>
        <TokenForm />
      </div>
      <div class="line">
        <Button class="main" onClick={onUse}>
          Use this token
        </Button>
        <Button class="last" onClick={onClose}>
          Close
        </Button>
      </div>
    </Dialog>
  )
}
