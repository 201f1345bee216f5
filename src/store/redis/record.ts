/**
 * The record of a store, a Redis hash with the number of buckets and the data format.
 * The number determines the bucket of each item, so all services must use the same number. @module
 */

import type { Logger } from 'pino'
import { StoreMismatchError } from '../item-store.js'
import type { Command, RedisValue, Reply, Servers } from './client.js'
import {
  BusyError,
  errorReplyOf,
  NotConnectedError,
  type Purpose,
  refused,
  storeError,
} from './errors.js'

/** Data format (docs/reference/redis.md). Raise this number if earlier versions would misread a change. */
const ownFormat = 1
/** Number of buckets by default, and of a store that has items but no record. */
export const bucketsByDefault = 256
/** Maximum buckets of a new store in a cluster, where each poll sends a command for each bucket. */
const maxInCluster = 4096

/** Returns the record, after writing a missing record. KEYS: the record; ARGV: buckets, format. */
const recordScript = `
local fields = redis.call('HMGET', KEYS[1], 'buckets', 'format')
if fields[1] or fields[2] then return fields end
redis.call('HSET', KEYS[1], 'buckets', ARGV[1], 'format', ARGV[2])
return ARGV`

interface StoreRecordOptions {
  readonly prefix: string
  readonly keys: readonly string[]
  readonly log: Pick<Logger, 'warn'>
  readonly servers: Pick<Servers, 'send' | 'serverOf'>
}

export class StoreRecord {
  readonly key: string
  readonly #options: StoreRecordOptions
  /** Result of the last comparison; `undefined` without a record, or after a lost connection. */
  #result: 'matched' | StoreMismatchError | undefined
  /** Whether the record has ever matched. This service may then write a lost record again. */
  #wasMatched = false
  #logged: string | undefined
  #pending: Promise<void> | undefined

  constructor(options: StoreRecordOptions) {
    this.#options = options
    this.key = `${options.prefix}{store}`
  }

  /** Whether the record matched when last read. Otherwise, the service may not access items. */
  get isMatched(): boolean {
    return this.#result === 'matched'
  }

  get mismatch(): StoreMismatchError | undefined {
    return this.#result === 'matched' ? undefined : this.#result
  }

  /** Discards the last result, because the next connection may be to a server with other data. */
  forget(): void {
    this.#result = undefined
  }

  readAgain(send: (parts: Command['parts']) => Promise<RedisValue>): void {
    send(['HMGET', this.key, 'buckets', 'format']).then(
      (content) => this.#judge(content),
      () => undefined, // ignored: later commands fail too, or this server does not have the record
    )
  }

  /** @throws {StoreError} if the service may not access the items in the bucket. */
  async assure(key: string, purpose: Purpose): Promise<void> {
    await this.compare().catch((error) => {
      if (error instanceof StoreMismatchError) this.#log(error)
      const isAnswer = error instanceof StoreMismatchError || errorReplyOf(error) !== undefined
      if (isAnswer) throw refused(error, purpose)
      // Without the server that has the record, items on the other servers of a cluster are served.
      if (this.#options.servers.serverOf?.(key)?.isReady) return
      const isKnown = error instanceof NotConnectedError || error instanceof BusyError
      throw storeError(isKnown ? error : new NotConnectedError(error), purpose)
    })
  }

  /**
   * Compares the record with this service's values, or writes a missing record.
   * @throws {StoreMismatchError} if a value differs; {Error} if the record cannot be read.
   */
  compare(): Promise<void> {
    this.#pending ??= this.#compare().finally(() => {
      this.#pending = undefined
    })
    return this.#pending
  }

  async #compare(): Promise<void> {
    const { keys, servers } = this.#options
    if (servers.serverOf && !servers.serverOf(this.key)?.isReady) {
      throw new NotConnectedError(new Error('the server with the record cannot be reached'))
    }
    this.#judge(await this.#send(['HMGET', this.key, 'buckets', 'format']))
    if (this.#result === undefined) {
      const cause = await this.#obstacle()
      if (cause !== undefined) this.#result = new StoreMismatchError(cause)
      else {
        const args = [String(keys.length), String(ownFormat)]
        this.#judge(await this.#send(['EVAL', recordScript, '1', this.key, ...args]))
      }
    }
    if (this.mismatch) throw this.mismatch
  }

  /** @param content the server's reply: number of buckets and format. */
  #judge(content: RedisValue): void {
    const [buckets = null, format = null] = Array.isArray(content) ? content : []
    if (buckets === null && format === null) {
      this.forget()
      return
    }
    const cause = mismatchIn(Number(buckets), Number(format), this.#options.keys.length)
    this.#result = cause === undefined ? 'matched' : new StoreMismatchError(cause)
    if (cause !== undefined) return
    this.#wasMatched = true
    this.#logged = undefined
  }

  /** Returns the reason why this service may not write a record, if any. */
  async #obstacle(): Promise<string | undefined> {
    const { keys, servers } = this.#options
    const own = keys.length
    if (own === bucketsByDefault || this.#wasMatched) return undefined
    const lengths = await servers.send(
      keys.map((key) => ({ parts: ['HLEN', key], key, replyBytes: 0 })),
    )
    if (lengths.some((reply) => valueIn(reply) !== 0)) return otherNumber(own, bucketsByDefault)
    if (servers.serverOf === undefined || own <= maxInCluster) return undefined
    return `STORE_BUCKETS is ${own}, and a new store in a cluster may have at most ${maxInCluster}; set STORE_BUCKETS to that number`
  }

  async #send(parts: Command['parts']): Promise<RedisValue> {
    const [reply] = await this.#options.servers.send([{ parts, key: this.key, replyBytes: 0 }])
    return valueIn(reply)
  }

  #log({ message }: StoreMismatchError): void {
    if (message === this.#logged) return
    this.#logged = message
    this.#options.log.warn({ cause: message }, 'the store cannot be used')
  }
}

/** @throws {Error} if the reply is an error. */
function valueIn(reply: Reply | undefined): RedisValue {
  if (reply instanceof Error) throw reply
  return reply?.value ?? null
}

function mismatchIn(buckets: number, format: number, own: number): string | undefined {
  if (format === ownFormat) return buckets === own ? undefined : otherNumber(own, buckets)
  const version = format > ownFormat ? 'a newer version of the service' : 'another version'
  return `this store has data in format ${format}, but this version reads format ${ownFormat}; use ${version}, or another STORE_PREFIX`
}

function otherNumber(own: number, buckets: number): string {
  return `STORE_BUCKETS is ${own}, but this store has ${buckets} buckets; set STORE_BUCKETS to ${buckets}, or use another STORE_PREFIX`
}
