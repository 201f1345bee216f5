/** Keys of the store that another program has written to: it is unhealthy until what it found there is gone. @module */

import type { StoreError } from '../item-store.js'
import type { RedisValue } from './client.js'
import { refused } from './errors.js'
import { isItem } from './item-fields.js'

export class Suspects {
  /** For each key a field that is not an item's, or none if it is the key as a whole. */
  readonly #fields = new Map<string, Buffer | undefined>()

  get keys(): Iterable<string> {
    return this.#fields.keys()
  }

  /** The engine says that a key is not as the store leaves it. */
  add(key: string): void {
    if (!this.#fields.has(key)) this.#fields.set(key, undefined)
  }

  get isEmpty(): boolean {
    return this.#fields.size === 0
  }

  has(key: string): boolean {
    return this.#fields.has(key)
  }

  /** A field is not an item's, or the key as a whole is not the store's. @returns the error for whoever has read it. */
  unexpected(key: string, field?: Buffer): StoreError {
    this.#fields.set(key, field)
    return refused(new Error(`another program has written to ${key}`))
  }

  /**
   * Looks at a key again, suspect or not.
   * @param read reads a field of it.
   * @param probe fails if the key is not as the store leaves it.
   */
  async check(
    key: string,
    read: (field: Buffer) => Promise<RedisValue>,
    probe: () => Promise<unknown>,
  ): Promise<void> {
    const field = this.#fields.get(key)
    if (field !== undefined) {
      const text = await read(field)
      const isExpected = text === null || isItem(field.toString('latin1'), text as Buffer) // as HGET answers
      if (!isExpected) throw this.unexpected(key, field)
    }
    await probe()
    if (this.#fields.get(key) === field) this.#fields.delete(key)
  }
}
