/** Checks lists of items against the guarantees of the store. */

import assert from 'node:assert/strict'
import type { ItemId } from '../../src/item/id.js'
import type { ItemStore } from '../../src/store/item-store.js'

/** Items that a list may contain, and items that it must contain. */
interface Seen {
  readonly isWanted: (text: string) => boolean
  readonly texts: readonly string[] // of the items in the list when it was requested
  readonly versions: Map<ItemId, Set<string>> // texts of each item in the list since then
  readonly constant: Set<ItemId> // items that have been in the list ever since
}

/** Items that a store should contain, in order of creation. */
export class ListedItems {
  readonly texts = new Map<ItemId, string>()
  readonly #guarantees: ItemStore['guarantees']
  readonly #seen: Seen[] = []

  constructor(guarantees: ItemStore['guarantees']) {
    this.#guarantees = guarantees
  }

  /** Records a create or replace or, if `text` is `undefined`, a delete. */
  set(id: ItemId, text: string | undefined): void {
    for (const { isWanted, versions, constant } of this.#seen) {
      if (text === undefined || !isWanted(text)) constant.delete(id)
      else versions.set(id, (versions.get(id) ?? new Set()).add(text))
    }
    if (text === undefined) this.texts.delete(id)
    else this.texts.set(id, text)
  }

  /** Records that a list was requested, and returns a function that checks the list's text. */
  listed(isWanted = (_text: string) => true): (text: string) => void {
    const texts = [...this.texts].filter(([, text]) => isWanted(text))
    const seen: Seen = {
      isWanted,
      texts: texts.map(([, text]) => text),
      versions: new Map(texts.map(([id, text]) => [id, new Set([text])])),
      constant: new Set(texts.map(([id]) => id)),
    }
    this.#seen.push(seen)
    return (text) => {
      this.#seen.splice(this.#seen.indexOf(seen), 1)
      this.#check(text === '' ? [] : text.split(/(?<=\}),(?=\{)/), seen)
    }
  }

  #check(shown: string[], { texts, versions, constant }: Seen): void {
    const { isSnapshot, isInOrder } = this.#guarantees
    assert.ok(isSnapshot || !isInOrder, 'an order without a snapshot cannot be checked')
    const ids = shown.map(idOf)
    if (isInOrder) assert.deepEqual(shown, texts)
    if (isSnapshot) assert.deepEqual(shown.toSorted(), texts.toSorted())
    for (const [place, text] of shown.entries()) {
      const id = idOf(text)
      assert.ok(versions.get(id)?.has(text), `the item never had this text: ${text}`)
      assert.ok(ids.indexOf(id) === place || !constant.has(id), `the list has ${id} twice`)
    }
    for (const id of constant) assert.ok(ids.includes(id), `the list lacks ${id}`)
  }
}

function idOf(text: string): ItemId {
  return text.slice(7, 43) as ItemId // `itemText` puts the id at this position
}
