/** Saves what the user has typed, and tells the session what came of it. @module */

import { ChangedError, createItem, isOutcomeUnknown, replaceItem } from '../changes.js'
import type { Collection } from '../collection.js'
import { isSameItem, requestBody } from '../draft.js'
import { type Item, itemOf } from '../item.js'
import { messageFor } from '../service.js'
import type { Session, SessionEvent } from './session.js'

export interface Saving {
  readonly collection: Collection
  onFound(error: ChangedError): void
  onProblem(error: unknown): void
}

/**
 * Creates an item, or replaces its version `base`. Returns the saved item, or else the problem.
 * @param createKey idempotency key of a new item.
 */
export async function save(
  { collection, onFound, onProblem }: Saving,
  { key }: Session,
  dispatch: (event: SessionEvent) => void,
  { base, text, createKey }: { base: Item | undefined; text: string; createKey: string },
): Promise<{ readonly saved?: Item; readonly problem?: unknown }> {
  dispatch({ type: 'save', base })
  try {
    const saved = itemOf(await send(base, text, createKey))
    collection.put(saved.text)
    dispatch({ type: 'saved', key, item: saved })
    return { saved }
  } catch (problem) {
    if (problem instanceof ChangedError) {
      onFound(problem)
      dispatch({ type: 'found', key, id: problem.id, text: problem.text })
      return {}
    }
    dispatch({ type: 'failed', key, problem })
    onProblem(problem)
    return { problem }
  }
}

/** @throws {ChangedError} if a different version is stored. */
async function send(base: Item | undefined, text: string, key: string): Promise<string> {
  const body = requestBody(text)
  try {
    return await (base ? replaceItem(base, body) : createItem(body, key))
  } catch (error) {
    const stored = error instanceof ChangedError ? error.text : undefined
    if (stored !== undefined && isSameItem(stored, text)) return stored
    throw error
  }
}

/** Returns a message about a failed save. @param shown error that the page already shows; the message omits it. */
export function notSaved(problem: unknown, shown?: unknown): string {
  const message = messageFor(problem)
  const cause = message === messageFor(shown) ? '' : `${message}. `
  if (!isOutcomeUnknown(problem)) return `Not saved. ${cause}`
  return `${cause}It is not known whether this was saved. Saving again is safe.`
}
