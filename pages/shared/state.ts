/** Values that components share. A component that uses a value is rendered again when it changes. @module */

import { useLayoutEffect, useReducer } from 'preact/hooks'

export function createState<T>(initial: T) {
  let now = initial
  const listeners = new Set<() => void>()
  /** Calls `listener` after each change. Returns a function that ends it. */
  function subscribe(listener: () => void): () => void {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }
  return {
    subscribe,
    get: () => now,
    set(next: T) {
      if (Object.is(next, now)) return
      now = next
      for (const listener of listeners) listener()
    },
    use(): T {
      const shown = now
      const [, redraw] = useReducer((count: number) => count + 1, 0)
      useLayoutEffect(() => {
        const listener = () => redraw(undefined)
        if (now !== shown) listener()
        return subscribe(listener)
      }, [])
      return shown
    },
  }
}
