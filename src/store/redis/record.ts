/** A store's record: its data format and number of buckets, the same for all services. @module */

import { StoreMismatchError } from '../item-store.js'
import type { Command, RedisValue, Servers } from './client.js'
import { keyCommand, listIn, valueIn } from './client.js'
import type { Purpose } from './errors.js'
import {
  BusyError,
  errorCodeOf,
  errorReplyOf,
  NotConnectedError,
  refused,
  storeError,
} from './errors.js'

// Version of the data format (docs/reference/redis.md), to be increased if older services would misread new data.
// Scripts compare only `buckets`, so the next format should rename this field.
const currentFormat = 2
/** Default number of buckets. A store that has items but no record has this number too. */
export const bucketsByDefault = 256
const maxInCluster = 4096 // for a new store; each poll sends a command for each bucket

/** Returns the store's record, after writing it if it is missing. KEYS: the record; ARGV: buckets, format. */
const recordScript = `
local fields = redis.call('HMGET', KEYS[1], 'buckets', 'format')
if fields[1] or fields[2] then return fields end
redis.call('HSET', KEYS[1], 'buckets', ARGV[1], 'format', ARGV[2])
return ARGV`

export function createStoreRecord(
  servers: Servers,
  prefix: string,
  keys: readonly string[],
  onMismatch: (error: StoreMismatchError) => void,
) {
  const key = `${prefix}{store}`
  const count = keys.length
  const readCommand = ['HMGET', key, 'buckets', 'format']
  let result: 'matched' | StoreMismatchError | undefined // of the latest check; `undefined` without a record
  let wasMatched = false // if so, this service may restore a lost record
  let pending: Promise<void> | undefined

  async function send(parts: Command['parts']): Promise<RedisValue | Error> {
    const [reply] = await servers.send([{ parts, key, replyBytes: 0 }])
    return isDamage(reply) ? reply : valueIn(reply)
  }

  /** @param content what the record holds, or the error from reading it. */
  function setResult(content: RedisValue | Error): void {
    const [buckets = null, format = null] = content instanceof Error ? [] : listIn(content)
    const isMissing = buckets === null && format === null
    if (isDamage(content)) result = damaged()
    else result = isMissing ? undefined : compared(String(buckets), Number(format), count)
    if (result === 'matched') wasMatched = true
  }

  /** Returns the error if this service must not write a record. */
  async function obstacle(): Promise<StoreMismatchError | undefined> {
    if (count === bucketsByDefault || wasMatched) return undefined
    const lengths = await servers.send(keys.map((bucket) => keyCommand(['HLEN', bucket], 0)))
    if (lengths.some((reply) => valueIn(reply) !== 0)) return otherNumber(count, bucketsByDefault)
    if (servers.serverOf === undefined || count <= maxInCluster) return undefined
    const cause = `STORE_BUCKETS is ${count}, and a new store in a cluster may have at most ${maxInCluster}; set STORE_BUCKETS to that number`
    return new StoreMismatchError(cause)
  }

  async function readOrWrite(): Promise<void> {
    if (servers.serverOf && !servers.serverOf(key)?.isReady()) {
      throw new NotConnectedError(new Error('the server with the record cannot be reached'))
    }
    setResult(await send(readCommand))
    result ??= await obstacle()
    const write = ['EVAL', recordScript, '1', key, String(count), String(currentFormat)]
    if (result === undefined) setResult(await send(write))
    if (result instanceof StoreMismatchError) throw result
  }

  /** Compares or writes the record. @throws {StoreMismatchError} if it differs; {Error} if it cannot be read. */
  function compare(): Promise<void> {
    pending ??= readOrWrite().finally(() => {
      pending = undefined
    })
    return pending
  }

  return {
    key,
    compare,

    /** Result of the latest comparison. The service may access items only while the result is `'matched'`. */
    get result() {
      return result
    },

    /** Discards the result, because a script has found another record. */
    forget(): void {
      result = undefined
    },

    readAgain(sendAhead: (parts: Command['parts']) => Promise<RedisValue>): void {
      // Errors don't matter: later commands fail too, or another server in the cluster has the record.
      sendAhead(readCommand).then(setResult, (error) => isDamage(error) && setResult(error))
    },

    /** @throws {StoreError} if the service may not access the items in the bucket. */
    async requireMatch(bucket: string, purpose: Purpose): Promise<void> {
      await compare().catch((error) => {
        const isMismatch = error instanceof StoreMismatchError
        if (isMismatch) onMismatch(error)
        if (isMismatch || errorReplyOf(error) !== undefined) throw refused(error, purpose)
        // If the node with the record is down, items on the other nodes of the cluster are still served.
        if (servers.serverOf?.(bucket)?.isReady()) return
        const isKnown = error instanceof NotConnectedError || error instanceof BusyError
        throw storeError(isKnown ? error : new NotConnectedError(error), purpose)
      })
    },
  }
}

function compared(buckets: string, format: number, count: number) {
  if (format === currentFormat) {
    if (!/^[1-9]\d*$/.test(buckets)) return damaged()
    return Number(buckets) === count ? 'matched' : otherNumber(count, buckets)
  }
  const version = format > currentFormat ? 'a newer version of the service' : 'another version'
  const cause = `this store has data in format ${format}, but this version reads format ${currentFormat}; use ${version}, or another STORE_PREFIX`
  return new StoreMismatchError(cause)
}

/** True if the record is not a hash. */
function isDamage(error: unknown): error is Error {
  return errorCodeOf(error) === 'WRONGTYPE'
}

function damaged(): StoreMismatchError {
  const cause =
    'another program has damaged the record of this store; restore the record, or use another STORE_PREFIX'
  return new StoreMismatchError(cause)
}

function otherNumber(count: number, buckets: number | string): StoreMismatchError {
  const cause = `STORE_BUCKETS is ${count}, but this store has ${buckets} buckets; set STORE_BUCKETS to ${buckets}, or use another STORE_PREFIX`
  return new StoreMismatchError(cause)
}
