/**
 * Lists that many responses share: the store is read once for all of them.
 *
 * @module
 */

import type { Awaitable, ItemList, ItemStore } from '../store/item-store.js'
import { inPortions } from './portions.js'

/** One list for all who want it. */
export interface SharedList {
  /** Length in bytes, or 0 if it is not open or cannot be shared. */
  readonly bodyBytes: number
  /** Reads it. @throws {StoreError} */
  open(): Promise<void>
  /** The shared one if it is open, or else one for this caller alone. @throws {StoreError} */
  list(): Awaitable<ItemList>
  /** No one else is going to use it; those who do may go on. */
  close(): void
}

/**
 * How long other lists that are too long to be shared wait for one of them to be sent, in milliseconds. A client that
 * reads slowly does not hold up the others for longer.
 */
const maxTurn = 5_000

/** Lists up to this length, in bytes, are one chunk. */
const oneChunk = 1024 * 1024

export class SharedLists {
  readonly #store: Pick<ItemStore, 'list'>
  readonly #maxBytes: number
  #heldBytes = 0
  /** Until then, no list that is too long to be shared may be opened. */
  #turn: Promise<void> = Promise.resolve()

  /** @param maxBytes of the lists that are held at a time. */
  constructor(store: Pick<ItemStore, 'list'>, maxBytes: number) {
    this.#store = store
    this.#maxBytes = maxBytes
  }

  /** @param project only its items; all items by default. */
  create(project?: string): SharedList {
    const lists = this
    let list: ItemList | 'too long' | undefined
    let users = 1
    const leave = () => {
      users -= 1
      if (users === 0 && typeof list === 'object') list.release()
    }
    return {
      get bodyBytes() {
        return typeof list === 'object' ? (list.byteLength ?? 0) : 0
      },
      async open() {
        list = (await lists.#held(await lists.#opened(project))) ?? 'too long'
      },
      list() {
        if (list === undefined) return lists.#opened(project)
        if (list === 'too long') return lists.#alone(project)
        users += 1
        return { ...list, release: once(leave) }
      },
      close: once(leave),
    }
  }

  #opened(project: string | undefined): Awaitable<ItemList> {
    if (project === undefined) return this.#store.list()
    return this.#filtered(project)
  }

  async #filtered(project: string): Promise<ItemList> {
    const list = await this.#store.list(project)
    return list.byteLength === undefined ? { ...list, chunks: inPortions(list.chunks) } : list
  }

  /** The same list in memory, to be read any number of times; `undefined` if it is too long for that. */
  async #held(list: ItemList): Promise<ItemList | undefined> {
    const { byteLength: known = 0 } = list
    if (known > oneChunk || (known > 0 && this.#heldBytes + known > this.#maxBytes)) return list
    const chunks: Uint8Array[] = []
    let byteLength = 0
    const release = () => {
      this.#heldBytes -= byteLength
    }
    try {
      for await (const chunk of list.chunks) {
        byteLength += chunk.length
        this.#heldBytes += chunk.length
        if (this.#heldBytes > this.#maxBytes) {
          release()
          return undefined
        }
        chunks.push(chunk)
      }
    } catch (error) {
      release()
      throw error
    } finally {
      list.release()
    }
    const { version } = list
    const whole = byteLength <= oneChunk ? [Buffer.concat(chunks)] : chunks
    return { version, byteLength, chunks: whole, release }
  }

  /** A list for one response, when it is its turn. */
  async #alone(project: string | undefined): Promise<ItemList> {
    const before = this.#turn
    let end = () => {}
    this.#turn = new Promise((resolve) => {
      end = resolve
    })
    try {
      await before
      const list = await this.#opened(project)
      const timer = setTimeout(end, maxTurn)
      return {
        ...list,
        release() {
          clearTimeout(timer)
          end()
          list.release()
        },
      }
    } catch (error) {
      end()
      throw error
    }
  }
}

function once(call: () => void): () => void {
  let isCalled = false
  return () => {
    if (!isCalled) call()
    isCalled = true
  }
}
