/**
 * The life of an edit, from opening an item, or a member in its cell, until the text is saved or given up. It is one pure
 * function, so that each event has an outcome in each state, and no state loses what the user has typed.
 * @module
 */

import { formattedDraft, withoutId } from '../model/draft.js'
import { type Item, memberText } from '../model/item.js'
import { stringOf } from '../model/members.js'

/** A text to edit. */
export interface Draft {
  /** Differs for each draft, so that a late response or an old component does not affect a later draft. */
  readonly key: number
  /** Stored version that the text replaces; its text is empty if the user has not seen it. `undefined`: a new item. */
  readonly item: Item | undefined
  /** Name of the member that is edited in its cell; `undefined` for the whole item. */
  readonly name: string | undefined
  /** Text of the item or the member, before {@link formattedDraft} indents it. */
  readonly source: string
  /** Whether the text is an unsaved copy, which would be lost on closing even if the user has typed nothing. */
  readonly isCopy: boolean
  readonly hasFocus: boolean
}

/**
 * `clean`: nothing is typed; the text follows the stored item.
 * `dirty`: text is typed.
 * `saving`: the text is being saved.
 * `failed`: the last save failed, for the reason `problem`.
 * `conflict`: another version is stored than the one that the text replaces, or none.
 */
export type State = 'clean' | 'dirty' | 'saving' | 'failed' | 'conflict'

/** Another draft, or an end of editing. */
export type Move = Draft | 'close'

export interface Session extends Draft {
  readonly state: State
  /** Text when nothing has been typed. */
  readonly shown: string
  readonly typed: string
  /** Latest known version of the item; `undefined` if it is not stored. */
  readonly stored: Item | undefined
  readonly problem: unknown
  /** Typed text that is being saved. */
  readonly saving: string | undefined
  /** Pending move: made after a running save, or when the user has decided what happens to the typed text. */
  readonly pending: Move | undefined
}

export type SessionEvent =
  | { readonly type: 'open' | 'go' | 'follow'; readonly to: Move }
  | { readonly type: 'stay' | 'discard' | 'adopt' }
  | { readonly type: 'typed'; readonly text: string }
  /** `base`: version to replace; `undefined` to create an item. */
  | { readonly type: 'save'; readonly base: Item | undefined }
  | { readonly type: 'saved'; readonly key: number; readonly item: Item }
  | { readonly type: 'failed'; readonly key: number; readonly problem: unknown }
  /** Another version of an item was found when saving; `undefined` if it is deleted. */
  | {
      readonly type: 'found'
      readonly key: number
      readonly id: string
      readonly text?: string | undefined
    }
  | { readonly type: 'listed'; readonly id: string; readonly item: Item | undefined }
  | { readonly type: 'deleted'; readonly ids: ReadonlySet<string> }

let drafts = 0

function draft(part: Partial<Draft>, source: string): Draft {
  drafts += 1
  const rest = { item: undefined, name: undefined, isCopy: false, hasFocus: true }
  return { ...rest, ...part, source, key: drafts }
}

export const draftOf = (item: Item, hasFocus = true) => draft({ item, hasFocus }, item.text)
export const newDraft = (text: string) => draft({}, formattedDraft(text))
export const copyOf = (text: string) => draft({ isCopy: true }, withoutId(text))
export const cellDraft = (item: Item, name: string) => draft({ item, name }, sourceIn(item, name))

function sourceIn(item: Item, name: string | undefined): string {
  return name === undefined ? item.text : (memberText(item, name) ?? '')
}

/** Returns the text for a field: an indented item, a string without its quotes, or another value as it is. */
function shownText({ name, source }: Pick<Draft, 'name' | 'source'>): string {
  if (name === undefined) return formattedDraft(source)
  return source.startsWith('"') ? stringOf(source) : source
}

export function begin(move: Move): Session | undefined {
  if (move === 'close') return undefined
  const shown = shownText(move)
  const nothing = { problem: undefined, saving: undefined, pending: undefined }
  return { ...move, ...nothing, state: 'clean', shown, typed: shown, stored: move.item }
}

/** Returns whether typed text would be lost if the session ended now. */
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
      if (state !== 'saving' && !isDirty(now)) return begin(event.to)
      return { ...now, pending: event.to }
    case 'follow':
      return item && state !== 'saving' && !isDirty(now) ? begin(event.to) : now
    case 'stay':
      return { ...now, pending: undefined }
    case 'discard':
      return state === 'saving' ? now : begin(now.pending ?? 'close')
    case 'typed':
      return settled({ ...now, typed: event.text })
    case 'save':
      if (state === 'saving') return now
      return { ...now, state: 'saving', item: event.base, saving: now.typed, problem: undefined }
    case 'saved': {
      if (now.saving === now.typed) return begin(now.pending ?? 'close')
      const { item } = event
      return settled({ ...now, item, stored: item, saving: undefined, isCopy: false })
    }
    case 'failed':
      return settled({ ...now, saving: undefined, pending: undefined, problem: event.problem })
    case 'found': {
      const { id, text } = event
      const stored = text === undefined ? undefined : { id, text }
      // A new item is found if an earlier attempt to create it succeeded.
      const seen = item ?? { id, text: '' }
      const rest = { saving: undefined, pending: undefined, isCopy: true }
      return settled({ ...now, ...rest, item: seen, stored })
    }
    case 'listed':
      return item?.id === event.id ? settled({ ...now, stored: event.item }) : now
    case 'deleted':
      if (!item || !event.ids.has(item.id)) return now
      if (state !== 'saving' && !isDirty(now)) return undefined
      return settled({ ...now, stored: undefined })
    case 'adopt':
      return now.stored ? basedOn(now, now.stored) : now
  }
}

/** Returns a session with the text of another version, without anything typed. */
function basedOn(now: Session, item: Item): Session {
  const source = sourceIn(item, now.name)
  const shown = shownText({ name: now.name, source })
  const rest = { isCopy: false, problem: undefined }
  return { ...now, ...rest, state: 'clean', item, stored: item, source, shown, typed: shown }
}

function settled(now: Session): Session {
  const { item, stored } = now
  if (now.saving !== undefined) return now
  if (item && item.text !== stored?.text) {
    if (stored && !isDirty(now)) return basedOn(now, stored)
    return { ...now, state: 'conflict' }
  }
  if (now.problem !== undefined) return { ...now, state: 'failed' }
  return { ...now, state: isDirty(now) ? 'dirty' : 'clean' }
}
