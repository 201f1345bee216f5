/** The button that shows whose token the page sends, and the token field that the button opens. @module */

import { Button } from '../shared/components.js'
import { changeToken } from '../shared/session.js'
import { TokenForm, TokenWords, useToken } from '../shared/token.js'

export function TokenButton() {
  const token = useToken()
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
        {token && (
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
