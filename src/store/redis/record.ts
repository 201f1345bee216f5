/**
 * The record of a store: a hash with what all its services must agree on. This is the format of the data, and the
 * number of buckets, which decides where an item is.
 *
 * @module
 */

import type { Logger } from 'pino'
import { StoreMismatchError } from '../item-store.js'
import type { Command, RedisValue, Servers } from './client.js'
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
/** Format of a store whose record has none, because the first services wrote none. */
const formatByDefault = 1
/** Number of buckets of a store without a record. */
export const bucketsByDefault = 256
/** Maximum number of buckets of a new store in a cluster, where each poll for changes reads them one by one. */
const maxInCluster = 4096

/** The number of buckets, and the format of the data. */
const fields = ['buckets', 'format'] as const

/**
 * KEYS: the record. ARGV: number of buckets, format, number of buckets of a store without a record.
 * Writes the record if there is none, and returns it, so that the first of several services decides. While the server
 * takes no writes, a store with the number of stores without a record is used without one.
 */
const recordScript = `
local fields = redis.call('HMGET', KEYS[1], '${fields.join("', '")}')
if fields[1] or fields[2] then return fields end
local done = redis.pcall('HSET', KEYS[1], 'buckets', ARGV[1], 'format', ARGV[2])
if type(done) == 'table' and ARGV[1] ~= ARGV[3] then return done end
return { ARGV[1], ARGV[2] }`

interface StoreRecordOptions {
  readonly prefix: string
  /** The keys of all buckets, as this service has them. */
  readonly keys: readonly string[]
  readonly log: Pick<Logger, 'warn'>
  readonly servers: Pick<Servers, 'send' | 'sendTogether' | 'serverOf'>
}

export class StoreRecord {
  readonly #options: StoreRecordOptions
  readonly #key: string
  #isMatched = false
  #mismatch: StoreMismatchError | undefined
  /** Whether the present mismatch has been logged. */
  #isLogged = false
  /** Whether the record has ever matched: if it gets lost, it is then restored. */
  #wasMatched = false
  #pending: Promise<void> | undefined

  constructor(options: StoreRecordOptions) {
    this.#options = options
    this.#key = `${options.prefix}{store}`
  }

  /** Whether the record matched this service when it was read last. Only then may items be read and changed. */
  get isMatched(): boolean {
    return this.#isMatched
  }

  /** How the record differed from this service when it was read last. */
  get mismatch(): StoreMismatchError | undefined {
    return this.#mismatch
  }

  /** Forgets the last result, because the server may be another one now. */
  forget(): void {
    this.#isMatched = false
    this.#mismatch = undefined
  }

  /** Reads the record again. In a cluster, one server has it; the errors of the others are ignored. */
  readAgain(send: (parts: Command['parts']) => Promise<RedisValue>): void {
    send(this.#question).then(
      (value) => {
        const content = contentOf(value)
        if (content === undefined) this.forget()
        else this.#judge(mismatchIn(content, this.#options.keys.length), false)
      },
      () => undefined, // the commands that follow fail too, or go to another server
    )
  }

  /** Checks that items with this key may be read and changed. @throws {StoreError} if not. */
  async assure(key: string, purpose: Purpose): Promise<void> {
    await this.compare().catch((error) => {
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
   * @param isAtStart whether the caller shows the error, so that the log need not have it.
   * @throws {StoreMismatchError} if the store has another number of buckets, or another format.
   * @throws {Error} for `storeError`, if the record cannot be read: the last result then remains.
   */
  compare(isAtStart = false): Promise<void> {
    this.#pending ??= this.#compare(isAtStart).finally(() => {
      this.#pending = undefined
    })
    return this.#pending
  }

  async #compare(isAtStart: boolean): Promise<void> {
    this.#judge(await this.#read(), isAtStart)
    if (this.#mismatch) throw this.#mismatch
  }

  /** @param cause what is wrong with the record, if anything. */
  #judge(cause: string | undefined, isAtStart: boolean): void {
    this.#mismatch = cause === undefined ? undefined : new StoreMismatchError(cause)
    this.#isMatched = cause === undefined
    this.#wasMatched ||= this.#isMatched
    const isNew = cause !== undefined && !isAtStart && !this.#isLogged
    if (isNew) this.#options.log.warn({ cause }, 'the store cannot be used')
    this.#isLogged = cause !== undefined && !isAtStart
  }

  get #question(): string[] {
    return ['HMGET', this.#key, ...fields]
  }

  /** Writes the record if there is none. @returns what is wrong with it. */
  async #read(): Promise<string | undefined> {
    const { keys, servers } = this.#options
    const own = keys.length
    if (servers.serverOf && !servers.serverOf(this.#key)?.isReady) {
      throw new NotConnectedError(new Error('the server of the record cannot be reached'))
    }
    const content = await this.#send(this.#question)
    if (content !== undefined) return mismatchIn(content, own)
    if (own !== bucketsByDefault && !this.#wasMatched) {
      if (await this.#holdsItems()) {
        return mismatchIn({ buckets: bucketsByDefault, format: formatByDefault }, own)
      }
      if (servers.serverOf && own > maxInCluster) {
        return `STORE_BUCKETS is ${own}, and a new store in a cluster may have at most ${maxInCluster}; set it to that`
      }
    }
    const args = [own, ownFormat, bucketsByDefault].map(String)
    const written = await this.#send(['EVAL', recordScript, '1', this.#key, ...args])
    return mismatchIn(written ?? { buckets: Number.NaN, format: Number.NaN }, own)
  }

  /** @returns `undefined` if there is no record. */
  async #send(parts: readonly string[]): Promise<Content | undefined> {
    const { value } = await this.#options.servers.send({ parts, replyBytes: 0 }, this.#key)
    return contentOf(value)
  }

  async #holdsItems(): Promise<boolean> {
    const { keys, servers } = this.#options
    const lengthOf = (key: string) => ({ parts: ['HLEN', key], replyBytes: 0 })
    const replies = await servers.sendTogether(keys.map(lengthOf), keys)
    return replies.some((reply) => {
      if (reply instanceof Error) throw reply
      return Number(reply.value) > 0
    })
  }
}

interface Content {
  readonly buckets: number
  readonly format: number
}

/** @returns `undefined` if there is no record. */
function contentOf(reply: RedisValue): Content | undefined {
  const [buckets, format] = Array.isArray(reply) ? reply : []
  if (buckets == null && format == null) return undefined
  return { buckets: Number(buckets), format: Number(format ?? formatByDefault) }
}

/** Returns what is wrong with a record. @param own number of buckets of this service. */
function mismatchIn({ buckets, format }: Content, own: number): string | undefined {
  if (format !== ownFormat) {
    const version = format > ownFormat ? 'a newer version of the service' : 'another version'
    return `this store has data of format ${format}, and this version reads format ${ownFormat}; use ${version}, or another STORE_PREFIX`
  }
  if (buckets === own) return undefined
  return `STORE_BUCKETS is ${own}, but this store has ${buckets}; set it to that, or use another STORE_PREFIX`
}
