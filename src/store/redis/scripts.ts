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

/** What is said of a bucket that is not as the service leaves it. */
export const foreign = 'another program has written to this key'

/** Reads the length of all texts. Numbers are written out, whatever the engine makes of them. */
const begin = `
local key, id, text = KEYS[1], ARGV[1], ARGV[2]
local bytes = redis.call('HGET', key, 'bytes') or redis.call('HLEN', key) == 0 and '0'
if not bytes or #bytes > 15 or string.find(bytes, '%D') then
  return redis.error_reply('${foreign}')
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

/**
 * ARGV: a field that was seen and is no item's, or none; whether to try HSET, too. Uses each command that
 * the others use, changes nothing, and fails where one of them would be refused. Fields are looked at
 * only where that is cheap. An HSET without a value is refused as such only where it could be done.
 */
export const checkScript = script(`${begin}
local isShort = bytes / redis.call('HLEN', key) < 1000
local page = redis.call('HSCAN', key, '0', 'MATCH', isShort and '*' or '', 'COUNT', 1)
local isForeign = redis.call('HSTRLEN', key, id) > 0
for place = 1, #page[2], 2 do
  local field = page[2][place]
  isForeign = isForeign or (field ~= 'bytes' and #field ~= 36)
end
if isForeign then return redis.error_reply('${foreign}') end
redis.call('HDEL', key, '')
if text == '' then return 1 end
local refusal = redis.pcall('HSET', key, 'bytes', bytes, '').err
return string.find(refusal, 'wrong number of arg') and 1 or redis.error_reply(refusal)`)

function script(text: string): Script {
  return { text, digest: createHash('sha1').update(text).digest('hex') }
}
