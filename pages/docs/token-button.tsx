/** The button that says whose token the page sends, and the field that the button opens. @module */

import { Button } from '../shared/components.js'
import { TokenForm, TokenWords } from '../shared/token.js'

export function TokenButton() {
  return (
    <>
      <Button class="chip" popovertarget="token">
        <TokenWords />
      </Button>
      <div
        id="token"
        class="ask"
        popover="auto"
        onSubmit={({ currentTarget }) => currentTarget.hidePopover()}
      >
        <TokenForm />
        <p class="note">
          <code>item-store token --sub NAME</code> prints one.
        </p>
      </div>
    </>
  )
}
