/** What lies over the list: dialogs, the editor of a cell, and the popover with a whole value. @module */

import { token } from '../../shared/session.js'
import { createState } from '../../shared/state.js'
import type { Item } from '../model/item.js'
import { refusal } from '../service/requests.js'

export type Overlay =
  | { readonly kind: 'import' | 'columns' | 'help' }
  /** `problem`: error that opened the token dialog, if any. */
  | { readonly kind: 'token'; readonly problem?: unknown }
  | { readonly kind: 'delete'; readonly items: readonly Item[] }
  | { readonly kind: 'cell'; readonly item: Item; readonly name: string }
  | Peeked

export interface Peeked {
  readonly kind: 'peek'
  readonly item: Item
  readonly name: string
  readonly cell: HTMLElement
  /** Opened by a key or click, and has the focus; `false` if the pointer only rests on the cell. */
  readonly hasFocus: boolean
}

export type OverlayOf<K extends Overlay['kind']> = Extract<Overlay, { readonly kind: K }>

export const overlays = createState<readonly Overlay[]>(token.get() ? [] : [{ kind: 'token' }]) // the topmost last

/** Message about a failure that has no dialog; empty if there is none. */
export const failure = createState('')

export function open(overlay: Overlay): void {
  overlays.set(opened(overlays.get(), overlay))
}

export function close(kind: Overlay['kind']): void {
  overlays.set(closed(overlays.get(), kind))
}

refusal.subscribe(() => open({ kind: 'token', problem: refusal.get() }))

export function isAskingForToken(): boolean {
  return overlays.get().some(({ kind }) => kind === 'token')
}

/** Opens an overlay. Only the token dialog opens on top of others. */
export function opened(open: readonly Overlay[], next: Overlay): readonly Overlay[] {
  const isHovering = next.kind === 'peek' && !next.hasFocus
  if (isHovering && open.some(({ kind }) => kind !== 'peek')) return open // resting the pointer closes nothing
  return next.kind === 'token' ? [...closed(open, 'token'), next] : [next]
}

export function closed(open: readonly Overlay[], kind: Overlay['kind']): readonly Overlay[] {
  return open.some((each) => each.kind === kind) ? open.filter((each) => each.kind !== kind) : open
}
