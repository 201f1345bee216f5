/** Loads the dialogs, either after the list or when a dialog is first needed. @module */

import { useEffect, useState } from 'preact/hooks'
import { loadStyles } from '../shared/load-styles.js'

type Dialogs = typeof import('./dialogs.js')

/** The loaded dialogs. As component state, they would be set too late for a dialog to get the next key press. */
let loaded: Dialogs | undefined

export async function loadDialogs(): Promise<Dialogs> {
  await loadStyles(new URL('./dialogs.css', import.meta.url))
  loaded = await import('./dialogs.js')
  return loaded
}

/** Loads the dialogs when they are needed. Calls `onFailure` if loading fails; the next use tries again. */
export function useDialogs(isNeeded: boolean, onFailure: () => void): Dialogs | undefined {
  const [, setDialogs] = useState(loaded)
  useEffect(() => {
    if (isNeeded && !loaded) loadDialogs().then(setDialogs, onFailure)
  }, [isNeeded])
  return loaded
}
