/** A store with a `Map` of JSON texts. It has only the methods of `ItemStore` that the scale benchmark calls. */

import type { ItemId } from '../../src/item/id.js'
import type { EncodedItem } from '../../src/item/item.js'

const itemsInChunk = 256

export function createMapStore() {
  const texts: Map<string, string> = new Map()
  let used = 0 // bytes of texts, with a comma after each

  return {
    create(id: ItemId, item: EncodedItem) {
      texts.set(id, item.toString('latin1'))
      used += item.length + 1
    },

    read(id: ItemId) {
      const text = texts.get(id)
      return text === undefined ? undefined : Buffer.from(text, 'latin1')
    },

    replace(id: ItemId, item: EncodedItem) {
      const text = texts.get(id)
      if (text === undefined) return
      texts.set(id, item.toString('latin1'))
      used += item.length - text.length
    },

    delete(id: ItemId) {
      const text = texts.get(id)
      if (text === undefined) return
      texts.delete(id)
      used -= text.length + 1
    },

    list() {
      const moment = [...texts.values()]
      return { byteLength: Math.max(0, used - 1), chunks: chunksOf(moment), release() {} }
    },
  }
}

function* chunksOf(texts: string[]) {
  for (let start = 0; start < texts.length; start += itemsInChunk) {
    const chunk = texts.slice(start, start + itemsInChunk).join(',')
    yield Buffer.from(start === 0 ? chunk : `,${chunk}`, 'latin1')
  }
}
