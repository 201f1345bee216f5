/** Lists that several responses share, so that the store is read only once. @module */

import type { Awaitable, ItemList, ItemStore } from '../store/item-store.js'
import { inPortions } from './turns.js'

export interface SharedList {
  /** Length of the list in bytes; 0 if the list is not open, or too long to be shared. */
  readonly bodyBytes: number
  /** Reads the list into memory unless the list is too long. @throws {StoreError} */
  open(): Promise<void>
  /** Returns the open shared list, or reads a list for this response. @throws {StoreError} */
  list(): Awaitable<ItemList>
  /** Must be called after the last call to `list`. Responses can still read the lists they have. */
  close(): void
}

/** Maximum wait for the previous long list, in milliseconds. Slow clients must not delay others. */
const maxTurn = 5_000

const oneChunk = 1024 * 1024

export class SharedLists {
  readonly #store: Pick<ItemStore, 'list'>
  readonly #maxBytes: number
  #heldBytes = 0
  /** Settles when the next list that is too long to be shared gets its turn. */
  #turn: Promise<void> = Promise.resolve()

  /** @param maxBytes memory limit for all shared lists together, in bytes. */
  constructor(store: Pick<ItemStore, 'list'>, maxBytes: number) {
    this.#store = store
    this.#maxBytes = maxBytes
  }

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
        list = (await lists.#held(await lists.read(project))) ?? 'too long'
      },
      list() {
        if (list === undefined) return lists.read(project)
        if (list === 'too long') return lists.#readInOrder(project)
        users += 1
        return { ...list, release: once(leave) }
      },
      close: once(leave),
    }
  }

  /** Reads a list for one response. @throws {StoreError} */
  read(project: string | undefined): Awaitable<ItemList> {
    if (project === undefined) return this.#store.list()
    return this.#filtered(project)
  }

  async #filtered(project: string): Promise<ItemList> {
    const list = await this.#store.list(project)
    return list.byteLength === undefined ? { ...list, chunks: inPortions(list.chunks) } : list
  }

  /** Reads a list into memory. Returns `undefined` if the list is too long. */
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

  /** Opens a list for one response after the previous long list has been sent. */
  async #readInOrder(project: string | undefined): Promise<ItemList> {
    const before = this.#turn
    let end = () => {}
    this.#turn = new Promise((resolve) => {
      end = resolve
    })
    try {
      await before
      const list = await this.read(project)
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
