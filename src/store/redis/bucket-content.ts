/**
 * The content of a bucket: a hash with a field for each item, and the field `bytes`. A key with anything else is
 * corrupted: another program has written to it.
 *
 * @module
 */

import type { ItemFilter } from '../../item/project.js'
import type { StoreError } from '../item-store.js'
import type { RedisValue } from './client.js'
import { refused } from './errors.js'
import { bytesField } from './scripts.js'

const itemStart = '{"id":"'
const idLength = 36
const closeBrace = 0x7d

/** Returns the value of the field `bytes`. @param entries fields and their values in turn. */
export function bytesIn(entries: readonly Buffer[]): Buffer | undefined {
  const index = entries.findIndex((entry, index) => index % 2 === 0 && isBytesField(entry))
  return index === -1 ? undefined : entries[index + 1]
}

/**
 * Returns the texts of items.
 * @param entries fields and their values in turn.
 * @param seen ids of items to leave out. The ids of the items returned are added.
 */
export function textsIn(entries: readonly Buffer[], seen?: Set<string>): Buffer[] {
  const texts: Buffer[] = []
  for (let index = 0; index < entries.length; index += 2) {
    const [field, text] = [entries[index], entries[index + 1]]
    if (field === undefined || text === undefined || isBytesField(field)) continue
    const id = seen && field.toString('latin1')
    if (id !== undefined && seen?.has(id)) continue
    if (id !== undefined) seen?.add(id)
    texts.push(text)
  }
  return texts
}

/** The texts of several items, each after a comma. */
export interface ItemTexts {
  readonly bytes: Buffer
  /** Where each item ends, in the order of the texts. */
  readonly ends: Uint32Array
}

/** Joins texts, each after a comma, in memory of their own: a slice of Node's pool would keep the whole pool. */
export function joined(texts: readonly Buffer[]): ItemTexts {
  const length = texts.reduce((sum, text) => sum + 1 + text.length, 0)
  const bytes = Buffer.allocUnsafeSlow(length)
  const ends = new Uint32Array(texts.length)
  let end = 0
  for (const [index, text] of texts.entries()) {
    end += bytes.write(',', end)
    end += text.copy(bytes, end)
    ends[index] = end
  }
  return { bytes, ends }
}

/** Returns the texts of the items that a filter wants, each after a comma. */
export function wantedIn({ bytes, ends }: ItemTexts, isWanted: ItemFilter): Buffer[] {
  const wanted: Buffer[] = []
  let start = 0
  for (const end of ends) {
    if (isWanted(bytes, start + 1)) wanted.push(bytes.subarray(start, end))
    start = end
  }
  return wanted
}

/** Returns the first field that is neither an item's nor `bytes`. @param entries fields and their values in turn. */
export function unexpectedFieldIn(entries: readonly Buffer[]): Buffer | undefined {
  for (let index = 0; index < entries.length; index += 2) {
    const [field, text] = [entries[index], entries[index + 1]]
    if (field === undefined || text === undefined) return undefined
    if (!isBytesField(field) && !isItem(field.toString('latin1'), text)) return field
  }
  return undefined
}

/** Whether the text begins with the id, as `{"id":"…"`, and ends like an object. */
export function isItem(id: string, text: Buffer): boolean {
  return (
    id.length === idLength &&
    text.length > itemStart.length + idLength + 1 &&
    text.toString('latin1', 0, itemStart.length + idLength) === itemStart + id &&
    text[text.length - 1] === closeBrace
  )
}

function isBytesField(field: Buffer): boolean {
  return field.length === bytesField.length && field.toString('latin1') === bytesField
}

/** Keys that another program has written to. The store is unhealthy until they are as the service left them. */
export class CorruptedKeys {
  /** For each key a field that is not an item's; `undefined` if the key as a whole is not a bucket. */
  readonly #fields = new Map<string, Buffer | undefined>()

  get keys(): Iterable<string> {
    return this.#fields.keys()
  }

  get isEmpty(): boolean {
    return this.#fields.size === 0
  }

  has(key: string): boolean {
    return this.#fields.has(key)
  }

  /** Adds a key that is no bucket, according to the server. */
  add(key: string): void {
    if (!this.#fields.has(key)) this.#fields.set(key, undefined)
  }

  /** Adds a key. @param field one that is not an item's. @returns the error for the caller who has met it. */
  found(key: string, field?: Buffer): StoreError {
    this.#fields.set(key, field)
    return refused(new Error(`another program has written to ${key}`))
  }

  /**
   * Checks a key, and removes it if it is as the service left it.
   * @param read reads a field of the key.
   * @param probe fails if the key is no bucket.
   * @throws {Error} if it is still corrupted.
   */
  async check(
    key: string,
    read: (field: Buffer) => Promise<RedisValue>,
    probe: () => Promise<unknown>,
  ): Promise<void> {
    const field = this.#fields.get(key)
    if (field !== undefined) {
      const text = await read(field)
      const isExpected = text === null || isItem(field.toString('latin1'), text as Buffer) // as HGET replies
      if (!isExpected) throw this.found(key, field)
    }
    await probe()
    if (this.#fields.get(key) === field) this.#fields.delete(key)
  }
}
