/**
 * What one command of the engine cannot do, as scripts, which the engine runs without anything else
 * between.
 *
 * A bucket is one hash: the field of each item's id holds its text; the field `bytes` holds the length of all
 * texts and, after a space, the version of the bucket, which each change replaces. If a script is refused, it is
 * before its first change: for a missing right, by a server that takes no writes, for lack of memory, for
 * unexpected data. So a script makes one change, or begins with one that has no effect, deleting the field
 * without a name, to prove that those that follow are allowed. That needs no memory either, and an engine whose
 * memory is full looks only at the first change of a script.
 *
 * @module
 */

import { createHash } from 'node:crypto'

export interface Script {
  readonly text: string
  /** SHA-1 of the text in hexadecimal digits: what the engine calls the script. */
  readonly digest: string
  /** Maximum length of its reply in bytes. */
  readonly replyBytes: number
}

/** What the replies of scripts take at most, in bytes. */
const shortReply = 24 * 1024

/** The field that is not an item. */
export const bytesField = 'bytes'

/** The fields of the store's record: the number of buckets, and the format of the data. */
export const recordFields = ['buckets', 'format'] as const

/** Code of the reply after which it is unknown what has changed. */
export const partlyDone = 'PARTLYDONE'

/** Code of the reply about a bucket that is not as the service leaves it. */
export const unexpectedData = 'UNEXPECTED'

/** `bytes` is the length of all texts. Numbers are written out, whatever Lua makes of them. */
const begin = `
local key, id = KEYS[1], ARGV[1]
local unexpected = redis.error_reply('${unexpectedData} another program has written to a key of the store')
local field = redis.call('HGET', key, 'bytes') or redis.call('HLEN', key) == 0 and '0'
local bytes = field and string.match(field, '^(%d+) ?[%w-]*$')
if not bytes or #bytes > 15 then return unexpected end`

const beginChange = `${begin}
local version, text, expected = ARGV[2], ARGV[3], ARGV[4]
local length = redis.call('HSTRLEN', key, id)
local function bytesNow(number) return string.format('%.0f ', math.max(0, number)) .. version end
local function isOther(digest)
  return digest ~= '' and redis.sha1hex(redis.call('HGET', key, id)) ~= digest
end`

/** ARGV: id. The text, or its length if it is a long one, or nothing if there is no such item. */
export const readShortScript = script(`
local length = redis.call('HSTRLEN', KEYS[1], ARGV[1])
if length > ${shortReply} then return length end
return redis.call('HGET', KEYS[1], ARGV[1])`)

/** What the scripts that change an item answer. */
export const outcomes = { 0: 'absent', 1: 'done', 2: 'unexpected' } as const

/** ARGV: id, version, text. 1, or 0 if there is such an item already. */
export const createScript = script(`${beginChange}
if length > 0 then return 0 end
redis.call('HSET', key, id, text, 'bytes', bytesNow(bytes + #text))
return 1`)

/** ARGV: id, version, text, SHA-1 of the expected text or nothing. A full engine takes a text that is not longer. */
export const replaceScript = script(`${beginChange}
if length == 0 then return 0 end
if isOther(expected) then return 2 end
if #text <= length then redis.call('HDEL', key, '') end
redis.call('HSET', key, id, text, 'bytes', bytesNow(bytes + #text - length))
return 1`)

/** ARGV: id, version, nothing, SHA-1 of the expected text or nothing. The last item takes the bucket with it. */
export const deleteScript = script(`${beginChange}
if length == 0 then return 0 end
if isOther(expected) then return 2 end
if bytes - length == 0 then return redis.call('HDEL', key, id, 'bytes') - 1 end
redis.call('HDEL', key, '')
redis.call('HSET', key, 'bytes', bytesNow(bytes - length))
if redis.pcall('HDEL', key, id) == 1 then return 1 end
return redis.error_reply('${partlyDone} the item may be there still')`)

/**
 * The key is the record of the store. ARGV: a number of buckets, a format, the number of stores without a
 * record. The fields that count: of several services that write theirs at a time, the first one's. While
 * the engine takes no writes, a store that needs no record is used without one.
 */
export const recordScript = script(`
local fields = redis.call('HMGET', KEYS[1], '${recordFields.join("', '")}')
if fields[1] or fields[2] then return fields end
local done = redis.pcall('HSET', KEYS[1], 'buckets', ARGV[1], 'format', ARGV[2])
if type(done) == 'table' and ARGV[1] ~= ARGV[3] then return done end
return { ARGV[1], ARGV[2] }`)

/**
 * ARGV: a name that no field has. Uses each command that the others use, writes a field and
 * deletes it, and fails where one of them would be refused.
 */
export const probeScript = script(`${begin}
if redis.call('HSTRLEN', key, id) > 0 then return unexpected end
redis.call('HLEN', key)
redis.call('HSCAN', key, '0', 'MATCH', '', 'COUNT', 1)
redis.call('HDEL', key, '')
redis.call('HSET', key, '', '')
return redis.call('HDEL', key, '')`)

function script(text: string): Script {
  const digest = createHash('sha1').update(text).digest('hex')
  return { text, digest, replyBytes: shortReply }
}
