/** Loads what is opened above the list when it is first needed. @module */

import { useEffect, useState } from 'preact/hooks'

export const loadDialogs = () => import('./dialogs.js')

type Dialogs = Awaited<ReturnType<typeof loadDialogs>>

/** @returns `undefined` until they are loaded. @param onFailure they cannot be; the next need tries again. */
export function useDialogs(isNeeded: boolean, onFailure: () => void): Dialogs | undefined {
  const [dialogs, setDialogs] = useState<Dialogs>()
  useEffect(() => {
    if (isNeeded) loadDialogs().then(setDialogs, onFailure)
  }, [isNeeded])
  return dialogs
}
