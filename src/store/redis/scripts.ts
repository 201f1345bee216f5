/**
 * Scripts for what no single command of the server can do. The server runs a script without interruption.
 *
 * A bucket is one hash. The field of each item's id has its text. The field `bytes` has the length of all texts and,
 * after a space, the version of the bucket, which each change replaces.
 *
 * A server refuses a script only before its first change: for a missing right, for lack of memory, because it takes no
 * writes, or for unexpected data. So a script makes one change, or begins by deleting the field without a name. That
 * has no effect, needs no memory, and proves that the changes after it are allowed. A server whose memory is full
 * checks only the first change of a script.
 *
 * @module
 */

import { createHash } from 'node:crypto'

export interface Script {
  readonly text: string
  /** SHA-1 of the text in hexadecimal digits, by which the server knows the script. */
  readonly digest: string
  /** Maximum length of its reply in bytes. */
  readonly replyBytes: number
}

/** Maximum length of a script's reply, in bytes. */
const shortReply = 24 * 1024

/** The field of a bucket that is not an item. */
export const bytesField = 'bytes'

/** The fields of the store's record: the number of buckets, and the format of the data. */
export const recordFields = ['buckets', 'format'] as const

/** Code of the reply after which it is unknown what has changed. */
export const partlyDone = 'PARTLYDONE'

/** Code of the reply for a key that another program has written to. */
export const unexpectedData = 'UNEXPECTED'

/** Reads the length of all texts into `bytes`. `%.0f` writes numbers without an exponent. */
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

/** ARGV: id. Returns the text, or its length if it is long, or nothing if there is no such item. */
export const readShortScript = script(`
local length = redis.call('HSTRLEN', KEYS[1], ARGV[1])
if length > ${shortReply} then return length end
return redis.call('HGET', KEYS[1], ARGV[1])`)

/** Replies of the scripts that change an item. */
export const outcomes = { 0: 'absent', 1: 'done', 2: 'unexpected' } as const

/** ARGV: id, version, text. Returns 1, or 0 if the item exists already. */
export const createScript = script(`${beginChange}
if length > 0 then return 0 end
redis.call('HSET', key, id, text, 'bytes', bytesNow(bytes + #text))
return 1`)

/** ARGV: id, version, text, SHA-1 of the expected text or nothing. A full server takes a text that is not longer. */
export const replaceScript = script(`${beginChange}
if length == 0 then return 0 end
if isOther(expected) then return 2 end
if #text <= length then redis.call('HDEL', key, '') end
redis.call('HSET', key, id, text, 'bytes', bytesNow(bytes + #text - length))
return 1`)

/** ARGV: id, version, nothing, SHA-1 of the expected text or nothing. Deleting the last item deletes the bucket. */
export const deleteScript = script(`${beginChange}
if length == 0 then return 0 end
if isOther(expected) then return 2 end
if bytes - length == 0 then return redis.call('HDEL', key, id, 'bytes') - 1 end
redis.call('HDEL', key, '')
redis.call('HSET', key, 'bytes', bytesNow(bytes - length))
if redis.pcall('HDEL', key, id) == 1 then return 1 end
return redis.error_reply('${partlyDone} the item may be there still')`)

/**
 * KEYS: the record of the store. ARGV: number of buckets, format, number of buckets of a store without a record.
 * Writes the record if there is none, and returns it, so that the first of several services decides. While the server
 * takes no writes, a store with the number of stores without a record is used without one.
 */
export const recordScript = script(`
local fields = redis.call('HMGET', KEYS[1], '${recordFields.join("', '")}')
if fields[1] or fields[2] then return fields end
local done = redis.pcall('HSET', KEYS[1], 'buckets', ARGV[1], 'format', ARGV[2])
if type(done) == 'table' and ARGV[1] ~= ARGV[3] then return done end
return { ARGV[1], ARGV[2] }`)

/**
 * ARGV: the name of a field that does not exist. Uses each command of the store, and writes and deletes a field, so
 * that it fails where one of the store's commands would be refused.
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
