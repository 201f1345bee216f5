/** Lists that several responses share. They're read once for all of these, or never if none has a body. @module */

import { ReadMemory } from '../memory/read-memory.js'
import type { ItemList, ItemStore } from '../store/item-store.js'
import { inPortions } from './pacing.js'

export type SharedLists = ReturnType<typeof createSharedLists>

const oneChunk = 1024 * 1024

/** @param maxBytes limit for all shared lists together. */
export function createSharedLists(store: Pick<ItemStore, 'list'>, maxBytes: number) {
  let bufferedBytes = 0

  function create(project?: string) {
    let list: ItemList | undefined
    let users = 1
    const leave = () => {
      users -= 1
      if (users === 0) list?.release()
    }
    return {
      /** Length in bytes; 0 if the list has not been read, or is too long to be shared. */
      get bodyBytes(): number {
        return list?.byteLength ?? 0
      },
      /** Reads the list into memory unless it is too long. @throws {StoreError} */
      async open(): Promise<void> {
        list = await wholeList(await readUnshared(project))
      },
      /** Returns the shared list if it's open, or else reads one for this response only. @throws {StoreError} */
      async list(): Promise<ItemList> {
        if (list === undefined) return readUnshared(project)
        users += 1
        return { ...list, release: once(leave) }
      },
      /** Call it after the last `list`. Lists returned by then stay readable. */
      close: once(leave),
    }
  }

  async function readUnshared(project: string | undefined): Promise<ItemList> {
    const list = await store.list(project)
    const isFilteredWhileRead = project !== undefined && list.byteLength === undefined
    return isFilteredWhileRead ? { ...list, chunks: inPortions(list.chunks) } : list
  }

  /** Reads a whole list into memory; `undefined` if it's too long. */
  async function wholeList(list: ItemList): Promise<ItemList | undefined> {
    const { version, byteLength: known = 0 } = list
    if (known > oneChunk || (known > 0 && bufferedBytes + known > maxBytes)) return list
    const chunks: Uint8Array[] = []
    let byteLength = 0
    let copy: Buffer | undefined
    let isWhole = false
    const uncount = () => {
      bufferedBytes -= byteLength
    }
    const release = () => {
      uncount()
      list.release()
    }
    try {
      for await (const chunk of list.chunks) {
        byteLength += chunk.length
        bufferedBytes += chunk.length
        if (bufferedBytes > maxBytes) return undefined
        chunks.push(chunk)
      }
      if (byteLength <= oneChunk) copy = Buffer.concat(chunks)
      isWhole = true
    } finally {
      if (!isWhole) release()
    }
    const shared = { version, byteLength, memory: new ReadMemory(byteLength) }
    if (copy === undefined) return { ...shared, chunks, release }
    list.release() // the chunks must not be used from here on
    return { ...shared, chunks: [copy], release: uncount }
  }

  return { create, readUnshared }
}

function once(call: () => void): () => void {
  let isCalled = false
  return () => {
    if (!isCalled) call()
    isCalled = true
  }
}
