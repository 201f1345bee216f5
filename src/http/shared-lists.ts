/** Lists of items that several responses share, so that the store is read only once. @module */

import { setTimeout } from '../listener/timers.js'
import { ReadMemory } from '../memory/read-memory.js'
import type { ItemList, ItemStore } from '../store/item-store.js'
import { inPortions } from './pacing.js'

export type SharedLists = ReturnType<typeof createSharedLists>

/** Maximum time for which a client waits for the previous client's long list, in milliseconds. */
const maxWait = 5_000

const oneChunk = 1024 * 1024

/** @param maxBytes memory limit for all shared lists together, in bytes. */
export function createSharedLists(store: Pick<ItemStore, 'list'>, maxBytes: number) {
  let bufferedBytes = 0
  /** Lists that are too long to share are read one by one. Settles when the latest is released, or after `maxWait`. */
  let latestEnd: Promise<void> = Promise.resolve()

  function create(project?: string) {
    let list: ItemList | 'too long' | undefined
    let users = 1
    const leave = () => {
      users -= 1
      if (users === 0 && typeof list === 'object') list.release()
    }
    return {
      /** Length of the list in bytes; 0 if the list has not been read, or is too long to be shared. */
      get bodyBytes(): number {
        return typeof list === 'object' ? (list.byteLength ?? 0) : 0
      },
      /** Reads the list into memory unless it is too long. @throws {StoreError} */
      async open(): Promise<void> {
        list = (await wholeList(await readUnshared(project))) ?? 'too long'
      },
      /** Returns the shared list if it is open. If not, reads a list for this response only. @throws {StoreError} */
      async list(): Promise<ItemList> {
        if (list === undefined) return readUnshared(project)
        if (list === 'too long') return readInOrder(project)
        users += 1
        return { ...list, release: once(leave) }
      },
      /** Must be called after the last call to `list`. Lists returned before this call stay readable. */
      close: once(leave),
    }
  }

  async function readUnshared(project: string | undefined): Promise<ItemList> {
    const list = await store.list(project)
    const isFilteredWhileRead = project !== undefined && list.byteLength === undefined
    return isFilteredWhileRead ? { ...list, chunks: inPortions(list.chunks) } : list
  }

  /** Reads a whole list into memory. Returns `undefined` if the list is too long for that. */
  async function wholeList(list: ItemList): Promise<ItemList | undefined> {
    const { version, byteLength: known = 0 } = list
    if (known > oneChunk || (known > 0 && bufferedBytes + known > maxBytes)) return list
    const chunks: Uint8Array[] = []
    let byteLength = 0
    let hasAllChunks = false
    const release = () => {
      bufferedBytes -= byteLength
    }
    try {
      for await (const chunk of list.chunks) {
        byteLength += chunk.length
        bufferedBytes += chunk.length
        if (bufferedBytes > maxBytes) return undefined
        chunks.push(chunk)
      }
      hasAllChunks = true
    } finally {
      list.release()
      if (!hasAllChunks) release()
    }
    const whole = byteLength <= oneChunk ? [Buffer.concat(chunks)] : chunks
    return { version, byteLength, chunks: whole, memory: new ReadMemory(byteLength), release }
  }

  async function readInOrder(project: string | undefined): Promise<ItemList> {
    let end = () => {}
    const ended = new Promise<void>((resolve) => {
      end = resolve
    })
    const reading = latestEnd.then(() => readUnshared(project))
    latestEnd = reading.then(() => ended).catch(() => undefined)
    const list = await reading
    setTimeout(end, maxWait).unref()
    const release = () => {
      end()
      list.release()
    }
    return { ...list, release }
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
