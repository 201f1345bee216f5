/** Loads what is opened above the list once the list is there, or when it is first needed. @module */

import { useEffect, useState } from 'preact/hooks'

type Dialogs = typeof import('./dialogs.js')

/** Kept here, not in a state: a dialog opens at once then, before the next key is typed. */
let loaded: Dialogs | undefined

let isStyled = false

export async function loadDialogs(): Promise<Dialogs> {
  if (!isStyled) await loadStyles()
  isStyled = true
  loaded = await import('./dialogs.js')
  return loaded
}

function loadStyles(): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const link = document.createElement('link')
    link.rel = 'stylesheet'
    link.href = new URL('./dialogs.css', import.meta.url).href
    link.onload = resolve
    link.onerror = reject
    document.head.append(link)
  })
}

/** @returns `undefined` until they are loaded. @param onFailure they cannot be; the next need tries again. */
export function useDialogs(isNeeded: boolean, onFailure: () => void): Dialogs | undefined {
  const [, setDialogs] = useState(loaded)
  useEffect(() => {
    if (isNeeded && !loaded) loadDialogs().then(setDialogs, onFailure)
  }, [isNeeded])
  return loaded
}
