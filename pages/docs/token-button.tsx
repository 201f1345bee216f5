/** The button that shows whose token the page sends, and the token field that the button opens. @module */

import { Button } from '../shared/components.js'
import { changeToken, token } from '../shared/session.js'
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
          <code>item-store token --sub NAME</code> prints one. It stays in this tab, and is sent
          only to this service.
        </p>
        {token.use() && (
          <div class="line">
            <span>
              <TokenWords />
            </span>
            <Button onClick={() => changeToken('')}>Forget</Button>
          </div>
        )}
      </div>
    </>
  )
}
