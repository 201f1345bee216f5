/** Moves the focus when the focused element disappears, so that the keyboard still works. @module */

import { useEffect } from 'preact/hooks'

/** @param place selector of the element that gets the focus, unless a closing dialog has moved it. */
export function useKeptFocus(place: string): void {
  useEffect(() => {
    let focused: EventTarget | null = null
    const remember = ({ target }: FocusEvent) => {
      focused = target
    }
    const observer = new MutationObserver(() => {
      if (!(focused instanceof Node) || focused.isConnected) return
      focused = null
      queueMicrotask(() => {
        if (document.activeElement === document.body)
          document.querySelector<HTMLElement>(place)?.focus()
      })
    })
    addEventListener('focusin', remember)
    observer.observe(document.body, { childList: true, subtree: true })
    return () => {
      removeEventListener('focusin', remember)
      observer.disconnect()
    }
  }, [])
}
