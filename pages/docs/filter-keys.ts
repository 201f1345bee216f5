/** Keys for the contents filter: `/` focuses the filter field, Escape clears it, Enter opens the first hit. @module */

import { keyOf } from '../shared/keys.js'

const field = document.querySelector<HTMLInputElement>('#contents input')
field?.setAttribute('aria-keyshortcuts', '/')

addEventListener('keydown', (event) => {
  const { target } = event
  const key = keyOf(event)
  if (target === field && key === 'Enter') {
    document.querySelector<HTMLElement>('#contents li:not(:has(ul)) > a')?.click()
  } else if (target === field && key === 'Escape' && field) {
    field.value = ''
    field.dispatchEvent(new Event('input'))
  } else if (key === '/' && !isTyping(target)) {
    event.preventDefault() // otherwise, the browser would enter `/` into the field
    field?.focus()
  }
})

function isTyping(target: EventTarget | null): boolean {
  return target instanceof Element && target.matches('textarea, input:not([type=radio])')
}
