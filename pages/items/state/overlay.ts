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
  | {
      readonly kind: 'peek'
      readonly item: Item
      readonly name: string
      readonly cell: HTMLElement
      readonly hasFocus: boolean // opened by a key or click; otherwise, the pointer rests on the cell
    }

export type OverlayOf<K extends Overlay['kind']> = Extract<Overlay, { readonly kind: K }>

export const overlays = createState<readonly Overlay[]>(token.get() ? [] : [{ kind: 'token' }]) // the topmost last

/** Message about a failure that has no dialog; empty if there is none. */
export const failure = createState('')

/** Opens an overlay in place of the others. Only the token dialog opens on top of them. */
export function open(next: Overlay): void {
  const isHovering = next.kind === 'peek' && !next.hasFocus
  if (isHovering && overlays.get().some(({ kind }) => kind !== 'peek')) return // resting the pointer closes nothing
  overlays.set(next.kind === 'token' ? [...without('token'), next] : [next])
}

export function close(kind: Overlay['kind']): void {
  overlays.set(without(kind))
}

function without(kind: Overlay['kind']): readonly Overlay[] {
  return overlays.get().filter((each) => each.kind !== kind)
}

refusal.subscribe(() => open({ kind: 'token', problem: refusal.get() }))

export function isAskingForToken(open: readonly Overlay[]): boolean {
  return open.some(({ kind }) => kind === 'token')
}
