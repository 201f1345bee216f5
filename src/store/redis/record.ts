/** A store's record: its data format and number of buckets, the same for all services. @module */

import { StoreMismatchError } from '../item-store.js'
import { keyCommand, listIn, type RedisValue, type Servers, valid } from './client.js'
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
const comparedFor = 1000 // ms between two comparisons

/** Returns the store's record, after writing it if it is missing. KEYS: the record; ARGV: buckets, format. */
const recordScript = `
local fields = redis.pcall('HMGET', KEYS[1], 'buckets', 'format')
if fields.err or fields[1] or fields[2] then return fields end
redis.call('HSET', KEYS[1], 'buckets', ARGV[1], 'format', ARGV[2])
return ARGV`

export function createStoreRecord(
  servers: Servers,
  prefix: string,
  count: number,
  onMismatch: (error: StoreMismatchError) => void,
) {
  const key = `${prefix}{store}`
  const command = keyCommand(['EVAL', recordScript, '1', key, `${count}`, `${currentFormat}`], 0)
  let result: 'matched' | StoreMismatchError | undefined // of the latest comparison
  let comparedAt = 0 // (`performance.now()`)
  let pending: Promise<void> | undefined

  async function readAndCompare(): Promise<void> {
    if (servers.serverOf && !servers.serverOf(key)?.isReady()) {
      throw new NotConnectedError(new Error('the server with the record cannot be reached'))
    }
    const [reply] = await servers.send([command])
    // This error means that the record is not a hash.
    if (errorCodeOf(reply) === 'WRONGTYPE') result = damaged()
    else result = compared(listIn(valid(reply)?.value), count)
    if (result instanceof StoreMismatchError) throw result
  }

  /** Compares or writes the record. @throws {StoreMismatchError} if it differs; {Error} if it cannot be read. */
  function compare(): Promise<void> {
    comparedAt = performance.now()
    pending ??= readAndCompare().finally(() => {
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

    /** Once a second, sends another comparison ahead of the commands that follow. */
    compareAgain(): void {
      if (performance.now() > comparedAt + comparedFor) compare().catch(() => undefined)
    },

    /** Discards the result, because a script has found another record. */
    forget(): void {
      result = undefined
    },

    /** @throws {StoreError} if the service may not access the items in the bucket. */
    async requireMatch(bucket: string): Promise<void> {
      await compare().catch((error) => {
        const isMismatch = error instanceof StoreMismatchError
        if (isMismatch) onMismatch(error)
        if (isMismatch || errorReplyOf(error) !== undefined) throw refused(error)
        // If the node with the record is down, items on the other nodes of the cluster are still served.
        if (servers.serverOf?.(bucket)?.isReady()) return
        const isKnown = error instanceof NotConnectedError || error instanceof BusyError
        throw storeError(isKnown ? error : new NotConnectedError(error))
      })
    },
  }
}

function compared([buckets, format]: readonly RedisValue[], count: number) {
  const number = Number(format)
  if (number !== currentFormat) {
    const version = number > currentFormat ? 'a newer version of the service' : 'another version'
    const cause = `this store has data in format ${number}, but this version reads format ${currentFormat}; use ${version}, or another STORE_PREFIX`
    return new StoreMismatchError(cause)
  }
  if (!/^[1-9]\d*$/.test(String(buckets))) return damaged()
  if (Number(buckets) === count) return 'matched'
  const cause = `STORE_BUCKETS is ${count}, but this store has ${buckets} buckets; set STORE_BUCKETS to ${buckets}, or use another STORE_PREFIX`
  return new StoreMismatchError(cause)
}

function damaged(): StoreMismatchError {
  const cause =
    'another program has damaged the record of this store; restore the record, or use another STORE_PREFIX'
  return new StoreMismatchError(cause)
}
