/** Saves the text of an item. @module */

import { ChangedError, createItem, isOutcomeUnknown, replaceItem } from './changes.js'
import type { Loss } from './dialog.js'
import { isSameItem, requestBody } from './draft.js'
import type { Item } from './item.js'
import { messageFor } from './service.js'

/**
 * @param base what it replaces; `undefined` to create an item.
 * @param text an object without errors.
 * @param key of the item, if it is created.
 * @returns what is stored then, also if an earlier attempt, whose answer was lost, has saved it.
 * @throws {ChangedError}
 */
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

/** What is lost if the user closes the page before the service has answered a save. */
export const lossWhileSaving: Loss = {
  title: 'Close while saving?',
  text: 'If the save fails, what you have typed is lost.',
  action: 'Close anyway',
}

/** Why an item was not saved, in words. @param shown what else has failed: the same cause is not said twice. */
export function notSaved(problem: unknown, shown?: unknown): string {
  const message = messageFor(problem)
  const cause = message === messageFor(shown) ? '' : `${message}. `
  if (!isOutcomeUnknown(problem)) return `Not saved. ${cause}`
  return `${cause}It is not known whether this was saved. Save again: it will not be there twice.`
}
