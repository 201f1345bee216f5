/** Saves what the user has typed, and tells the session what came of it. @module */

import { isOutcomeUnknown } from '../../../src/client/item-store-error.js'
import { isSameItem, requestBody } from '../model/draft.js'
import { type Item, itemOf } from '../model/item.js'
import { ChangedError, createItem, replaceItem } from '../service/changes.js'
import { messageFor } from '../service/requests.js'
import { collection, putFound } from '../state/list.js'
import type { Editing } from '../state/panel.js'

/** Creates an item, or replaces its version `base`. Returns the saved item, if any. */
export async function save(
  { get, dispatch }: Editing,
  base: Item | undefined,
  text: string,
): Promise<Item | undefined> {
  const now = get()
  // Would only fail again. The user decides with the buttons of the notice.
  if (now?.state === 'conflict' && base === now.item) return undefined
  const key = now?.key ?? ''
  dispatch({ type: 'save', base })
  try {
    const saved = itemOf(await storedText(base, text, key))
    collection.put(saved.text)
    dispatch({ type: 'saved', key, item: saved })
    return saved
  } catch (problem) {
    if (problem instanceof ChangedError) {
      putFound(problem)
      dispatch({ type: 'found', key, id: problem.id, text: problem.text })
    } else if (isOutcomeUnknown(problem)) dispatch({ type: 'lost', key, problem, text })
    else dispatch({ type: 'failed', key, problem })
    return undefined
  }
}

/**
 * Sends the text, and returns that of the stored item. @param key idempotency key of a new item.
 * @throws {ChangedError} if a different version is stored.
 */
async function storedText(base: Item | undefined, text: string, key: string): Promise<string> {
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
