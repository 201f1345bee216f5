/**
 * The record of a store: a hash with what all its services must agree on. This is the format of the data, and the
 * number of buckets, which decides where an item is.
 *
 * @module
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

/** Format of the data (docs/reference/redis.md). Raise it with every change that earlier versions would misread. */
const ownFormat = 1
/** Number of buckets of a store with items and without a record. */
export const bucketsByDefault = 256
/** Maximum number of buckets of a new store in a cluster, where each poll for changes reads them one by one. */
const maxInCluster = 4096

/**
 * KEYS: the record. ARGV: number of buckets, format.
 * Writes the record if there is none, and returns it, so that the first of several services decides.
 */
const recordScript = `
local fields = redis.call('HMGET', KEYS[1], 'buckets', 'format')
if fields[1] or fields[2] then return fields end
redis.call('HSET', KEYS[1], 'buckets', ARGV[1], 'format', ARGV[2])
return ARGV`

interface StoreRecordOptions {
  readonly prefix: string
  /** The keys of all buckets, as this service has them. */
  readonly keys: readonly string[]
  readonly log: Pick<Logger, 'warn'>
  readonly servers: Pick<Servers, 'send' | 'serverOf'>
}

export class StoreRecord {
  readonly key: string
  readonly #options: StoreRecordOptions
  /** The result of the last comparison; `undefined` before the first one, and once it is outdated. */
  #result: 'matched' | StoreMismatchError | undefined
  /** Whether the record has ever matched: if it gets lost, it is then restored. */
  #wasMatched = false
  /** The mismatch that the log has already. */
  #logged: string | undefined
  #pending: Promise<void> | undefined

  constructor(options: StoreRecordOptions) {
    this.#options = options
    this.key = `${options.prefix}{store}`
  }

  /** Whether the record matched this service when it was read last. Only then may items be read and changed. */
  get isMatched(): boolean {
    return this.#result === 'matched'
  }

  /** How the record differed from this service when it was read last. */
  get mismatch(): StoreMismatchError | undefined {
    return this.#result === 'matched' ? undefined : this.#result
  }

  /** Forgets the last result, because the server may be another one now. */
  forget(): void {
    this.#result = undefined
  }

  /** Reads the record again. In a cluster, one server has it; the errors of the others are ignored. */
  readAgain(send: (parts: Command['parts']) => Promise<RedisValue>): void {
    send(['HMGET', this.key, 'buckets', 'format']).then(
      (content) => this.#judge(content),
      () => undefined, // the commands that follow fail too, or go to another server
    )
  }

  /** Checks that items with this key may be read and changed. @throws {StoreError} if not. */
  async assure(key: string, purpose: Purpose): Promise<void> {
    await this.compare().catch((error) => {
      if (error instanceof StoreMismatchError) this.#log(error)
      const isAnswer = error instanceof StoreMismatchError || errorReplyOf(error) !== undefined
      if (isAnswer) throw refused(error, purpose)
      // While the server of the record is away, a cluster serves the items of the others.
      if (this.#options.servers.serverOf?.(key)?.isReady) return
      const isKnown = error instanceof NotConnectedError || error instanceof BusyError
      throw storeError(isKnown ? error : new NotConnectedError(error), purpose)
    })
  }

  /**
   * Reads the record, or writes it if there is none, and compares it with this service.
   * @throws {StoreMismatchError} if the store has another number of buckets, or another format.
   * @throws {Error} for `storeError`, if the record cannot be read: the last result then remains.
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
      throw new NotConnectedError(new Error('the server of the record cannot be reached'))
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

  /** @param content number of buckets and format, as servers reply. */
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

  /** Returns why the record may not be written. */
  async #obstacle(): Promise<string | undefined> {
    const { keys, servers } = this.#options
    const own = keys.length
    if (own === bucketsByDefault || this.#wasMatched) return undefined
    const lengths = await servers.send(
      keys.map((key) => ({ parts: ['HLEN', key], key, replyBytes: 0 })),
    )
    if (lengths.some((reply) => valueIn(reply) !== 0)) return otherNumber(own, bucketsByDefault)
    if (servers.serverOf === undefined || own <= maxInCluster) return undefined
    return `STORE_BUCKETS is ${own}, and a new store in a cluster may have at most ${maxInCluster}; set it to that`
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

/** @throws {Error} the reply, if it is an error. */
function valueIn(reply: Reply | undefined): RedisValue {
  if (reply instanceof Error) throw reply
  return reply?.value ?? null
}

/** Returns what is wrong with a record. @param own number of buckets of this service. */
function mismatchIn(buckets: number, format: number, own: number): string | undefined {
  if (format === ownFormat) return buckets === own ? undefined : otherNumber(own, buckets)
  const version = format > ownFormat ? 'a newer version of the service' : 'another version'
  return `this store has data of format ${format}, and this version reads format ${ownFormat}; use ${version}, or another STORE_PREFIX`
}

function otherNumber(own: number, buckets: number): string {
  return `STORE_BUCKETS is ${own}, but this store has ${buckets}; set it to that, or use another STORE_PREFIX`
}
