/**
 * The life of an edit, from opening an item, or a member in its cell, until the text is saved or given up. It is one pure
 * function, so that each event has an outcome in each state, and no state loses what the user has typed.
 * @module
 */

import { newKey } from '../../../src/client/item-requests.js'
import { formattedDraft, isSameItem, withoutId } from '../model/draft.js'
import { type Item, memberText } from '../model/item.js'
import { plainText } from '../model/values.js'

interface Draft {
  /** Different for each draft, so that a late response doesn't affect the next. Also a create's `Idempotency-Key`. */
  readonly key: string
  /** Stored version that the text replaces, without text if the user has not seen it; `undefined` for a new item. */
  readonly item: Item | undefined
  readonly name: string | undefined // member edited in its cell; `undefined` for the whole item
  readonly source: string // text of the item or member, before `formattedDraft` indents it
  readonly isCopy: boolean // not known to be stored, and so lost on closing even if nothing is typed
  readonly focus: number // changes when the editor shall get the focus; 0 if it shall not
}

/**
 * `clean`: nothing is typed; the text follows the stored item.
 * `dirty`: text is typed.
 * `saving`: the text is being saved.
 * `failed`: the last save failed, for the reason `problem`.
 * `conflict`: another version is stored than the one that the text replaces, or none. In a cell, other members may differ.
 */
export type State = 'clean' | 'dirty' | 'saving' | 'failed' | 'conflict'

export type Move = Draft | 'close' // or the end of editing

export interface Session extends Draft {
  readonly state: State
  readonly shown: string // text if nothing is typed, or nothing since the last save
  readonly typed: string
  readonly stored: Item | undefined // latest known version; `undefined` if there is none
  readonly problem: unknown
  readonly saving: string | undefined // typed text that is being saved
  readonly lost: string | undefined // item's text that may be stored, because the last save got no response
  /** Made after a running save, or when the user has decided what happens to the typed text. */
  readonly pending: Move | undefined
}

export type SessionEvent =
  | { readonly type: 'open' | 'go'; readonly to: Move }
  | { readonly type: 'follow'; readonly to: Draft }
  | { readonly type: 'stay' | 'discard' | 'adopt' }
  | { readonly type: 'typed'; readonly text: string }
  /** `base`: version to replace; `undefined` to create an item. */
  | { readonly type: 'save'; readonly base: Item | undefined }
  | { readonly type: 'saved'; readonly key: string; readonly item: Item }
  | { readonly type: 'failed'; readonly key: string; readonly problem: unknown }
  /** It is not known whether the item's text is saved. */
  | {
      readonly type: 'lost'
      readonly key: string
      readonly problem: unknown
      readonly text: string
    }
  /** Another version of an item was found when saving; `undefined` if it is deleted. */
  | {
      readonly type: 'found'
      readonly key: string
      readonly id: string
      readonly text?: string | undefined
    }
  | { readonly type: 'listed'; readonly id: string; readonly item: Item | undefined }
  | { readonly type: 'deleted'; readonly ids: ReadonlySet<string> }

function draft(part: Partial<Draft>, source: string): Draft {
  const rest = { item: undefined, name: undefined, isCopy: false, focus: 1 }
  return { ...rest, ...part, source, key: newKey() }
}

export const draftOf = (item: Item) => draft({ item }, item.text)
export const newDraft = (text: string) => draft({}, formattedDraft(text))
/** The draft of an item of which only the id is known, until {@link reduce} is told the listed item. Without id, a new one. */
export const draftWithId = (id: string) => (id ? draftOf({ id, text: '' }) : newDraft('{}'))
export const copyOf = (text: string) => draft({ isCopy: true }, withoutId(text))
export const cellDraft = (item: Item, name: string) => draft({ item, name }, sourceIn(item, name))

function sourceIn(item: Item, name: string | undefined): string {
  return name === undefined ? item.text : (memberText(item, name) ?? '')
}

function shownText({ name, source }: Pick<Draft, 'name' | 'source'>): string {
  return name === undefined ? formattedDraft(source) : plainText(source)
}

export function begin(move: Move): Session | undefined {
  if (move === 'close') return undefined
  const shown = shownText(move)
  const nothing = { problem: undefined, saving: undefined, lost: undefined, pending: undefined }
  return { ...move, ...nothing, state: 'clean', shown, typed: shown, stored: move.item }
}

/** True until the text of the item is known. */
export function isUnseen({ name, source }: Session): boolean {
  return name === undefined && source === ''
}

/** True if typed text would be lost if the session ended now. */
export function isDirty({ isCopy, typed, shown }: Session): boolean {
  return isCopy || typed !== shown
}

export function reduce(now: Session | undefined, event: SessionEvent): Session | undefined {
  if (event.type === 'open' && now?.state !== 'saving') return begin(event.to)
  if (!now) return event.type === 'go' ? begin(event.to) : undefined
  if ('key' in event && event.key !== now.key) return now
  const { state, item } = now
  switch (event.type) {
    case 'open':
    case 'go':
      if (isOf(item, event.to)) return { ...now, pending: undefined, focus: now.focus + 1 }
      if (state !== 'saving' && !isDirty(now)) return begin(event.to)
      return { ...now, pending: event.to }
    case 'follow':
      if (!item || isOf(item, event.to) || state === 'saving' || isDirty(now)) return now
      return begin({ ...event.to, focus: 0 })
    case 'stay':
      return { ...now, pending: undefined }
    case 'discard':
      return state === 'saving' ? now : begin(now.pending ?? 'close')
    case 'typed':
      return settled({ ...now, typed: event.text })
    case 'save': {
      if (state === 'saving') return now
      const { base } = event
      const isCopy = now.isCopy || base?.text !== item?.text // `shown` is not the text of `base`
      const rest = { saving: now.typed, lost: undefined, problem: undefined, isCopy }
      return { ...now, ...rest, state: 'saving', item: base }
    }
    case 'saved': {
      if (now.saving === now.typed) return begin(now.pending ?? 'close')
      const { item } = event
      const shown = now.saving ?? now.shown
      return settled({ ...now, item, stored: item, shown, saving: undefined, isCopy: false })
    }
    case 'failed':
      return settled({ ...now, saving: undefined, pending: undefined, problem: event.problem })
    case 'lost': {
      const { problem, text: lost } = event
      const rest = { saving: undefined, pending: undefined, problem, lost, isCopy: true }
      return settled({ ...now, ...rest, shown: now.saving ?? now.shown })
    }
    case 'found': {
      const { id, text } = event
      const stored = text === undefined ? undefined : { id, text }
      // For a new item, this event means that an earlier attempt has created it.
      const seen = item ?? { id, text: '' }
      const rest = { saving: undefined, pending: undefined, isCopy: true }
      return settled({ ...now, ...rest, item: seen, stored })
    }
    case 'listed':
      if (item?.id !== event.id || now.stored === event.item) return now
      return event.item || !isUnseen(now) ? settled({ ...now, stored: event.item }) : undefined
    case 'deleted':
      if (!item || !event.ids.has(item.id)) return now
      if (state !== 'saving' && !isDirty(now)) return undefined
      return settled({ ...now, stored: undefined })
    case 'adopt':
      return now.stored ? basedOn(now, now.stored) : now
  }
}

function isOf(item: Item | undefined, move: Move): boolean {
  return item !== undefined && move !== 'close' && move.item?.id === item.id
}

function basedOn(now: Session, item: Item): Session {
  const source = sourceIn(item, now.name)
  const shown = shownText({ name: now.name, source })
  const rest = { isCopy: false, problem: undefined }
  return { ...now, ...rest, state: 'clean', item, stored: item, source, shown, typed: shown }
}

function settled(now: Session): Session {
  const { item, stored, name } = now
  if (now.saving !== undefined) return now
  if (item && item.text !== stored?.text) {
    if (stored && !isDirty(now)) return basedOn(now, stored)
    // The save whose response was lost has succeeded.
    if (stored && now.lost !== undefined && isSameItem(stored.text, now.lost))
      return settled({ ...now, item: stored, problem: undefined, isCopy: false })
    // Saving a cell keeps changes to other members.
    if (stored && sourceIn(item, name) === sourceIn(stored, name))
      return settled({ ...now, item: stored })
    return { ...now, state: 'conflict' }
  }
  if (now.problem !== undefined) return { ...now, state: 'failed' }
  return { ...now, state: isDirty(now) ? 'dirty' : 'clean' }
}
