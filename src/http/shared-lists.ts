/** Lists that many responses share: the store is read once for all of them. @module */

import type { Awaitable, ItemList, ItemStore } from '../store/item-store.js'
import { inPortions } from './turns.js'

/** One list for several responses. */
export interface SharedList {
  /** Length in bytes, or 0 if it is not open or cannot be shared. */
  readonly bodyBytes: number
  /** Reads the list. @throws {StoreError} */
  open(): Promise<void>
  /** Returns the shared list if it is open, otherwise one for this caller alone. @throws {StoreError} */
  list(): Awaitable<ItemList>
  /** To be called when no more callers follow. Those who have the list may go on. */
  close(): void
}

/**
 * Maximum time that a list too long to be shared waits for the one before it to be sent, in milliseconds: a client that
 * reads slowly does not hold up the others.
 */
const maxTurn = 5_000

/** Lists up to this length, in bytes, are one chunk. */
const oneChunk = 1024 * 1024

export class SharedLists {
  readonly #store: Pick<ItemStore, 'list'>
  readonly #maxBytes: number
  #heldBytes = 0
  /** Settles when the next list that is too long to be shared may be opened. */
  #turn: Promise<void> = Promise.resolve()

  /** @param maxBytes maximum size of all lists in memory. */
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
        list = (await lists.#held(await lists.open(project))) ?? 'too long'
      },
      list() {
        if (list === undefined) return lists.open(project)
        if (list === 'too long') return lists.#alone(project)
        users += 1
        return { ...list, release: once(leave) }
      },
      close: once(leave),
    }
  }

  /** Reads a list for one response. @param project only its items. @throws {StoreError} */
  open(project: string | undefined): Awaitable<ItemList> {
    if (project === undefined) return this.#store.list()
    return this.#filtered(project)
  }

  async #filtered(project: string): Promise<ItemList> {
    const list = await this.#store.list(project)
    return list.byteLength === undefined ? { ...list, chunks: inPortions(list.chunks) } : list
  }

  /** Reads a list into memory, to be sent any number of times; `undefined` if it is too long for that. */
  async #held(list: ItemList): Promise<ItemList | undefined> {
    const { byteLength: known = 0 } = list
    if (known > oneChunk || (known > 0 && this.#heldBytes + known > this.#maxBytes)) return list
    const chunks: Uint8Array[] = []
    let byteLength = 0
    let isWhole = false
    const release = () => {
      this.#heldBytes -= byteLength
    }
    try {
      for await (const chunk of list.chunks) {
        byteLength += chunk.length
        this.#heldBytes += chunk.length
        if (this.#heldBytes > this.#maxBytes) return undefined
        chunks.push(chunk)
      }
      isWhole = true
    } finally {
      list.release()
      if (!isWhole) release()
    }
    const { version } = list
    const whole = byteLength <= oneChunk ? [Buffer.concat(chunks)] : chunks
    return { version, byteLength, chunks: whole, release }
  }

  /** Opens a list for one response, once it is its turn. */
  async #alone(project: string | undefined): Promise<ItemList> {
    const before = this.#turn
    let end = () => {}
    this.#turn = new Promise((resolve) => {
      end = resolve
    })
    try {
      await before
      const list = await this.open(project)
      setTimeout(end, maxTurn).unref()
      const release = () => {
        end()
        list.release()
      }
      return { ...list, release }
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
