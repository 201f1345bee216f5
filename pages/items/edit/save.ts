/** Saves what the user has typed, and tells the session what came of it. @module */

import { type Item, itemOf } from '../model/item.js'
import { ChangedError, isOutcomeUnknown } from '../service/changes.js'
import { saveItem } from '../service/save.js'
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
    const saved = itemOf(await saveItem(base, text, key))
    collection.put(saved.text)
    dispatch({ type: 'saved', key, item: saved })
    return saved
  } catch (problem) {
    if (problem instanceof ChangedError) {
      putFound(problem)
      dispatch({ type: 'found', key, id: problem.id, text: problem.text })
    } else dispatch({ type: isOutcomeUnknown(problem) ? 'lost' : 'failed', key, problem })
    return undefined
  }
}
