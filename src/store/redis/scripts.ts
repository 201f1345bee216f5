/**
 * The changes that one command of the engine cannot make, and the pages of a list, as scripts that it
 * runs without anything else between.
 *
 * A bucket is one hash: the field of each item's id holds its text, and the field `bytes` the length of
 * all texts. In each script whatever can fail comes before the first change. One that has begun is not
 * refused any more, even where the engine's memory is at its end.
 *
 * @module
 */

import { createHash } from 'node:crypto'

/** A script and what the engine calls it. */
export interface Script {
  readonly text: string
  /** SHA-1 of the text, in hexadecimal digits. */
  readonly digest: string
}

/** The field that is no item. */
export const bytesField = 'bytes'

/** ARGV: id, text. 1, or 0 where there is such an item already. */
export const createScript = script(`
if redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2]) == 0 then return 0 end
redis.call('HINCRBY', KEYS[1], 'bytes', #ARGV[2])
return 1`)

/**
 * ARGV: id, text. 1, or 0 where there is no such item. A text that is not longer is put in place by a
 * change that needs no memory first, so that a full engine takes it.
 */
export const replaceScript = script(`
local length = redis.call('HSTRLEN', KEYS[1], ARGV[1])
if length == 0 then return 0 end
if #ARGV[2] <= length then redis.call('HDEL', KEYS[1], ARGV[1]) end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('HINCRBY', KEYS[1], 'bytes', #ARGV[2] - length)
return 1`)

/** ARGV: id. 1, or 0 where there is no such item. The last item takes the bucket with it. */
export const deleteScript = script(`
local length = redis.call('HSTRLEN', KEYS[1], ARGV[1])
if length == 0 then return 0 end
redis.call('HDEL', KEYS[1], ARGV[1])
if redis.call('HLEN', KEYS[1]) == 1 then
  redis.call('DEL', KEYS[1])
else
  redis.call('HINCRBY', KEYS[1], 'bytes', -length)
end
return 1`)

/**
 * ARGV: cursor, bytes. The next cursor, and about so many bytes of fields and texts in turn: as many
 * items as take them at the mean length of the bucket's. The order of a hash is random, so that a page
 * of many long items among short ones does not come about.
 */
export const pageScript = script(`
local fields = redis.call('HLEN', KEYS[1])
if fields == 0 then return { '0', {} } end
local mean = redis.call('HGET', KEYS[1], 'bytes') / (fields - 1)
local count = math.max(1, math.floor(ARGV[2] / mean))
return redis.call('HSCAN', KEYS[1], ARGV[1], 'COUNT', count)`)

/** Number of items and of their bytes. */
export const sizeScript = script(`
local fields = redis.call('HLEN', KEYS[1])
if fields == 0 then return { 0, 0 } end
return { fields - 1, tonumber(redis.call('HGET', KEYS[1], 'bytes')) }`)

function script(text: string): Script {
  return { text, digest: createHash('sha1').update(text).digest('hex') }
}
