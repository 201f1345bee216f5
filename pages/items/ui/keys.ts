/** Keyboard shortcuts, which work no matter which element has focus. @module */

import { useEffect, useRef } from 'preact/hooks'
import { isCommand, keyOf } from '../../shared/keys.js'

/** Calls the handler for each key press that the focused element does not handle itself. */
export function useKeys(onKeyDown: (key: string, event: KeyboardEvent) => void): void {
  const latest = useRef(onKeyDown)
  latest.current = onKeyDown
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const { target, altKey } = event
      const key = keyOf(event)
      if (altKey || key === '' || document.querySelector('dialog:modal, [popover]:focus-within'))
        return
      if (key === 'Escape' && document.querySelector(':popover-open')) return // it closes the menu
      if (isCommand(event) && !/^[ac]$/.test(key)) return
      const isPressing = key === 'Enter' || key === ' '
      if (target instanceof Element && target.closest('.panel')) return
      const free = key === 'ArrowDown' ? '[type=checkbox], [type=search]' : '[type=checkbox]'
      const taken = isPressing ? 'button, a, input, select' : `input:not(${free}), select`
      if (target instanceof Element && target.closest(taken)) return
      latest.current(key, event)
    }
    document.addEventListener('keydown', listen)
    return () => document.removeEventListener('keydown', listen)
  }, [])
}
