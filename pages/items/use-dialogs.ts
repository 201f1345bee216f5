/** Loads the dialogs, either after the list or when a dialog is first needed. @module */

import { useEffect, useState } from 'preact/hooks'
import { loadStyles } from '../shared/load-styles.js'

type Dialogs = typeof import('./dialogs.js')

/** The loaded dialogs. If they were component state, a dialog would open only after the user's next key press. */
let loaded: Dialogs | undefined

export async function loadDialogs(): Promise<Dialogs> {
  await loadStyles(new URL('./dialogs.css', import.meta.url))
  loaded = await import('./dialogs.js')
  return loaded
}

/** `onFailure` is called if loading fails. The next use tries again. */
export function useDialogs(isNeeded: boolean, onFailure: () => void): Dialogs | undefined {
  const [, setDialogs] = useState(loaded)
  useEffect(() => {
    if (isNeeded && !loaded) loadDialogs().then(setDialogs, onFailure)
  }, [isNeeded])
  return loaded
}
