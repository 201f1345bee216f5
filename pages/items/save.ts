/** Saves an item that the user has edited. @module */

import { ChangedError, createItem, isOutcomeUnknown, replaceItem } from './changes.js'
import type { Loss } from './dialog.js'
import { isSameItem, requestBody } from './draft.js'
import type { Item } from './item.js'
import { messageFor } from './service.js'

/** Creates an item, or replaces its version `base`. @throws {ChangedError} if a different version is stored. */
export async function saveItem(base: Item | undefined, text: string, key: string): Promise<string> {
  const body = requestBody(text)
  try {
    return await (base ? replaceItem(base, body) : createItem(body, key))
  } catch (error) {
    const stored = error instanceof ChangedError ? error.text : undefined
    if (stored !== undefined && isSameItem(stored, text)) return stored
    throw error
  }
}

export const lossWhileSaving: Loss = {
  title: 'Close while saving?',
  text: 'If the save fails, what you have typed is lost.',
  action: 'Close anyway',
}

/** Returns a message about a failed save. @param shown error that the page already shows; the message omits it. */
export function notSaved(problem: unknown, shown?: unknown): string {
  const message = messageFor(problem)
  const cause = message === messageFor(shown) ? '' : `${message}. `
  if (!isOutcomeUnknown(problem)) return `Not saved. ${cause}`
  return `${cause}It is not known whether this was saved. Saving again is safe.`
}
