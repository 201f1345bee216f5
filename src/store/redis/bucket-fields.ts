/**
 * The field `bytes` of all buckets of a single server, in one command instead of one for each.
 *
 * `SORT` is the only command that reads fields of several hashes. It needs a key that has their numbers, a sorted
 * set that never changes. In a cluster it may not read other keys, nor may a user without rights to all keys;
 * the fields are then read one by one.
 *
 * @module
 */

import type { Command, RedisValue } from './client.js'
import { bytesField } from './scripts.js'

/** Number of buckets that are read at a time: with one command, 1,024 take the server 0.24 ms. */
export const countAtOnce = 1024
/** How long a server that has refused the command is not asked again, in milliseconds. */
const refusedFor = 1000
/** Length of a field with its protocol, in bytes: at most 15 digits, a space and a UUID. */
export const fieldBytes = 64

export interface BucketFieldsOptions {
  readonly prefix: string
  /** Number of buckets. */
  readonly count: number
  /** Sends commands to the server that has this key. @throws {Error} if one fails. */
  readonly send: (commands: readonly Command[], key: string) => Promise<readonly RedisValue[]>
}

/** @returns reads the fields in the order of the buckets; resolves to `undefined` where that is not possible. */
export function createBucketFields({
  prefix,
  count,
  send,
}: BucketFieldsOptions): () => Promise<RedisValue[] | undefined> {
  const key = `${prefix}{numbers}`
  const pattern = `${prefix}{*}->${bytesField}`
  const commands = Array.from({ length: Math.ceil(count / countAtOnce) }, (_, part) => {
    const limit = ['LIMIT', String(part * countAtOnce), String(countAtOnce)]
    const parts = ['SORT', key, 'BY', 'nosort', ...limit, 'GET', pattern]
    return { parts, replyBytes: countAtOnce * fieldBytes }
  })
  const scores = Array.from({ length: count }, (_, number) => [String(number), String(number)])
  const addNumbers = { parts: ['ZADD', key, ...scores.flat()], replyBytes: 0 }
  /** Until then, as `performance.now()` has it, the server is not asked. */
  let refusedUntil = prefix.includes('*') ? Number.POSITIVE_INFINITY : 0 // the first one is replaced

  return async function readFields() {
    if (performance.now() < refusedUntil) return undefined
    try {
      const empty: RedisValue[] = []
      const fields = empty.concat(...(await send(commands, key)))
      if (fields.length === count) return fields
      await send([addNumbers], key)
    } catch {
      // The server may not take this command, or no writes. Whoever reads the fields one by one is told more.
      refusedUntil = performance.now() + refusedFor
    }
    return undefined
  }
}
