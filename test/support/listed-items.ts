/** Checks lists against what the store guarantees about them. */

import assert from 'node:assert/strict'
import type { ItemId } from '../../src/item/id.js'
import type { ListGuarantees } from '../../src/store/item-store.js'

/** The items that one list may show. */
interface Seen {
  /** Whether the list has to show an item with this text. */
  readonly isWanted: (text: string) => boolean
  /** The texts at the moment when it was requested. */
  readonly texts: readonly string[]
  /** All texts that each item has had since that moment. */
  readonly versions: Map<ItemId, Set<string>>
  /** The items present throughout. */
  readonly constant: Set<ItemId>
}

/** The items that a store should hold, in the order in which they were created, which a replace does not change. */
export class ListedItems {
  readonly texts = new Map<ItemId, string>()
  readonly #guarantees: ListGuarantees
  readonly #seen: Seen[] = []

  constructor(guarantees: ListGuarantees) {
    this.#guarantees = guarantees
  }

  /** Notes that an item was created, replaced or, with `undefined`, deleted. */
  set(id: ItemId, text: string | undefined): void {
    for (const { isWanted, versions, constant } of this.#seen) {
      if (text === undefined || !isWanted(text)) constant.delete(id)
      else versions.set(id, (versions.get(id) ?? new Set()).add(text))
    }
    if (text === undefined) this.texts.delete(id)
    else this.texts.set(id, text)
  }

  /**
   * Notes that a list has just been requested.
   * @param isWanted whether the list has to show an item with this text.
   * @returns a function that checks its whole text.
   */
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
    assert.ok(isSnapshot || !isInOrder, 'an order that is not checked')
    const ids = shown.map(idOf)
    if (isInOrder) assert.deepEqual(shown, texts)
    if (isSnapshot) assert.deepEqual(shown.toSorted(), texts.toSorted())
    for (const [place, text] of shown.entries()) {
      const id = idOf(text)
      assert.ok(versions.get(id)?.has(text), `a text that the item never had: ${text}`)
      assert.ok(ids.indexOf(id) === place || !constant.has(id), `${id} shows twice`)
    }
    for (const id of constant) assert.ok(ids.includes(id), `${id} does not show`)
  }
}

function idOf(text: string): ItemId {
  return text.slice(7, 43) as ItemId // where `itemText` puts it
}
