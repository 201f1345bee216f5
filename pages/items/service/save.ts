/** Saves the text of an item. @module */

import { isSameItem, requestBody } from '../model/draft.js'
import type { Item } from '../model/item.js'
import { ChangedError, createItem, isOutcomeUnknown, replaceItem } from './changes.js'
import { messageFor } from './requests.js'

/**
 * Creates an item, or replaces its version `base`, and returns the stored text.
 * @param key idempotency key of a new item.
 * @throws {ChangedError} if a different version is stored.
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

/** Returns a message about a failed save. @param shown error that the page already shows; left out here. */
export function notSaved(problem: unknown, shown?: unknown): string {
  const message = messageFor(problem)
  const cause = message === messageFor(shown) ? '' : `${message}. `
  if (!isOutcomeUnknown(problem)) return `Not saved. ${cause}`
  return `${cause}It is not known whether this was saved. Saving again is safe.`
}
