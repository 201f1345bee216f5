/**
 * The changes that one command of the engine cannot make, and the pages of a list, as scripts that it
 * runs without anything else between.
 *
 * A bucket is one hash: the field of each item's id holds its text, and the field `bytes` the length of
 * all texts. Whatever a script can be refused, it is refused before anything has changed: a right that
 * is missing, a server that takes no changes, no memory, a hash of another program. So a script makes
 * one change, or proves by one without an effect that it may make those that follow. Taking out the
 * field without a name is such a change. It needs no memory either, and an engine whose memory is at its
 * end looks only at the first change of a script.
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

/** What a refusal begins with, or has within it, after which it is not known what has changed. */
export const partlyDone = 'PARTLYDONE'

/** Reads the length of all texts. Numbers are written out, whatever the engine makes of them. */
const begin = `
local key, id, text = KEYS[1], ARGV[1], ARGV[2]
local bytes = redis.call('HGET', key, 'bytes') or redis.call('HLEN', key) == 0 and '0'
if not bytes or #bytes > 15 or string.find(bytes, '%D') then
  return redis.error_reply('another program has written to this key')
end
local function digits(number) return string.format('%.0f', math.max(0, number)) end`

/** ARGV: id, text. 1, or 0 where there is such an item already. */
export const createScript = script(`${begin}
if redis.call('HSTRLEN', key, id) > 0 then return 0 end
redis.call('HSET', key, id, text, 'bytes', digits(bytes + #text))
return 1`)

/** ARGV: id, text. 1, or 0 where there is no such item. A full engine takes a text that is not longer. */
export const replaceScript = script(`${begin}
local length = redis.call('HSTRLEN', key, id)
if length == 0 then return 0 end
if #text <= length then redis.call('HDEL', key, '') end
redis.call('HSET', key, id, text, 'bytes', digits(bytes + #text - length))
return 1`)

/** ARGV: id. 1, or 0 where there is no such item. The last item takes the bucket with it. */
export const deleteScript = script(`${begin}
local length = redis.call('HSTRLEN', key, id)
if length == 0 then return 0 end
if bytes - length == 0 then return redis.call('HDEL', key, id, 'bytes') - 1 end
redis.call('HDEL', key, '')
redis.call('HSET', key, 'bytes', digits(bytes - length))
if redis.pcall('HDEL', key, id) == 1 then return 1 end
return redis.error_reply('${partlyDone} the item may be there still')`)

/**
 * ARGV: cursor, bytes. The next cursor, and about so many bytes of fields and texts in turn: as many
 * items as take them at the mean length of the bucket's. The order of a hash is random, so that a page
 * of many long items among short ones does not come about.
 */
export const pageScript = script(`${begin}
local fields = redis.call('HLEN', key)
if fields == 0 then return { '0', {} } end
local mean = math.max(64, bytes / fields)
return redis.call('HSCAN', key, ARGV[1], 'COUNT', math.max(1, math.floor(ARGV[2] / mean)))`)

/** Number of items and of their bytes. */
export const sizeScript = script(`${begin}
return { math.max(0, redis.call('HLEN', key) - 1), tonumber(bytes) }`)

function script(text: string): Script {
  return { text, digest: createHash('sha1').update(text).digest('hex') }
}
