/** Keeps the white space of a stored item, although the editor shows it indented. @module */

import { ChangeSet, type Text } from '@codemirror/state'
import { layOut } from '../../shared/json-layout.js'
import { formattedDraft } from '../model/draft.js'
import { skipSpace } from '../model/members.js'

/**
 * Returns typed text with the white space of `source`, except where the user has changed that of
 * `formattedDraft(source)`.
 * @param changes changes that have made `typed` of that text.
 */
export function withSpaceOf(source: string, typed: Text, changes: ChangeSet): string {
  const shown = formattedDraft(source)
  const text = typed.sliceString(0)
  if (text === shown) return source
  const untouched = gapsIn(source, shown).filter(({ from, to }) =>
    // Without white space in between, a change beside the gap could be inside a token.
    from === to ? !changes.touchesRange(from) : !changes.touchesRange(from + 1, to - 1),
  )
  const spaces = ChangeSet.of(untouched, shown.length, '\n')
  const result = spaces.map(changes).apply(typed).sliceString(0)
  // A typed quote can turn white space into a part of a string.
  return layOut(result) === layOut(text) ? result : text
}

/** Returns the white space between the tokens of `shown`, each with that of `source` in its place. */
function gapsIn(source: string, shown: string) {
  const gaps: { readonly from: number; readonly to: number; readonly insert: string }[] = []
  let isInString = false
  let at = 0
  for (let place = 0; place <= shown.length; place += 1) {
    if (!isInString) {
      const [from, end] = [place, skipSpace(source, at)]
      place = skipSpace(shown, place)
      if (end > at || place > from) gaps.push({ from, to: place, insert: source.slice(at, end) })
      at = end
    }
    if (shown[place] === '"') isInString = !isInString
    else if (shown[place] === '\\') {
      place += 1
      at += 1
    }
    at += 1
  }
  return gaps
}
