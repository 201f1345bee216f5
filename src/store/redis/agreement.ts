/**
 * What all services of a store have to agree on: the number of its buckets, which decides where an item is.
 *
 * It is recorded in the store, in a hash of its own. Stores that are older than this record have 256.
 *
 * @module
 */

import type { Logger } from 'pino'
import { StoreMismatchError } from '../item-store.js'
import type { Engine } from './engine.js'
import { bucketsField, recordScript } from './scripts.js'

/** Of stores without a record. */
export const bucketsByDefault = 256

export interface AgreementOptions {
  readonly prefix: string
  /** The keys of all buckets that this service has. */
  readonly keys: readonly string[]
  readonly log: Pick<Logger, 'warn'>
  readonly engine: Pick<Engine, 'send' | 'sendTogether'>
}

export class Agreement {
  readonly #options: AgreementOptions
  readonly #record: string
  #isReached = false
  /** Whether the log has a line about another number, since this one was found last. */
  #isLogged = false
  /** Whether the store has had the number of this service before: its record is restored if it gets lost. */
  #wasReached = false
  #pending: Promise<void> | undefined

  constructor(options: AgreementOptions) {
    this.#options = options
    this.#record = `${options.prefix}{store}`
  }

  /** Whether items may be read and changed. */
  get isReached(): boolean {
    return this.#isReached
  }

  /** The server may be another one now. */
  doubt(): void {
    this.#isReached = false
  }

  /**
   * Compares with what is recorded, or records it.
   * @param isAtStart whether the error goes to the user, so that the log need not have it.
   * @throws {StoreMismatchError} if the store has another number.
   * @throws {Error} for `storeError`, if it cannot be asked: what was known before still counts then.
   */
  check(isAtStart = false): Promise<void> {
    this.#pending ??= this.#compare(isAtStart).finally(() => {
      this.#pending = undefined
    })
    return this.#pending
  }

  async #compare(isAtStart: boolean): Promise<void> {
    const own = this.#options.keys.length
    const recorded = await this.#recorded()
    this.#isReached = recorded === own
    this.#wasReached ||= this.#isReached
    if (this.#isReached) {
      this.#isLogged = false
      return
    }
    const cause = `STORE_BUCKETS is ${own}, but this store has ${recorded}; set it to that, or use another STORE_PREFIX`
    if (!isAtStart && !this.#isLogged) this.#options.log.warn({ cause }, 'the store cannot be used')
    this.#isLogged = !isAtStart
    throw new StoreMismatchError(cause)
  }

  async #recorded(): Promise<number> {
    const { keys, engine } = this.#options
    const { value } = await engine.send(
      { parts: ['HGET', this.#record, bucketsField], replyBytes: 0 },
      this.#record,
    )
    if (value !== null) return Number(value)
    const isOther = keys.length !== bucketsByDefault && !this.#wasReached
    if (isOther && (await this.#holdsItems())) return bucketsByDefault
    const rest = ['1', this.#record, String(keys.length), String(bucketsByDefault)]
    const reply = await engine.send(
      { parts: ['EVAL', recordScript.text, ...rest], replyBytes: 0 },
      this.#record,
    )
    return Number(reply.value)
  }

  async #holdsItems(): Promise<boolean> {
    const { keys, engine } = this.#options
    const lengthOf = (key: string) => ({ parts: ['HLEN', key], replyBytes: 0 })
    const replies = await engine.sendTogether(keys.map(lengthOf), keys)
    return replies.some((reply) => {
      if (reply instanceof Error) throw reply
      return Number(reply.value) > 0
    })
  }
}
