/** Leaving is asked about where something would be lost: by the page, or by the browser. @module */

import type { VNode } from 'preact'
import { useLayoutEffect, useState } from 'preact/hooks'
import { Confirm } from './dialog.js'

/** What would be lost, in the words of the question. */
export interface Loss {
  readonly title: string
  readonly text: string
  /** What the button says that leaves all the same. */
  readonly action: string
}

/** @returns what leaves, once asked, and the question while it is asked. */
export function useLeaving(
  loss: Loss | undefined,
  onLeave: () => void,
): [leave: () => void, question: VNode | undefined] {
  const [isAsked, setAsked] = useState(false)
  const isSafe = loss === undefined
  useLayoutEffect(() => {
    if (isSafe) {
      setAsked(false)
      return undefined
    }
    const warn = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', warn)
    return () => removeEventListener('beforeunload', warn)
  }, [isSafe])
  const question = isAsked && loss && (
    <Confirm title={loss.title} action={loss.action} onYes={onLeave} onNo={() => setAsked(false)}>
      <p>{loss.text}</p>
    </Confirm>
  )
  return [() => (isSafe ? onLeave() : setAsked(true)), question || undefined]
}
