/** Buckets, which are Redis hashes with a field for each item, and the scripts that change buckets. @module */

import { hash } from 'node:crypto'
import type { StoreError } from '../item-store.js'
import { partlyDone, refused, unexpectedData } from './errors.js'

/** Name of the field with the total length of the item texts, a space, and a UUID that each change replaces. */
export const bytesField = 'bytes'

const itemStart = '{"id":"'
const idLength = 36
const closeBrace = 0x7d

/** JSON texts of several items, with a comma before each text. */
export interface ItemTexts {
  readonly bytes: Buffer
  /** Offset in `bytes` at which each item's text ends. */
  readonly ends: Uint32Array
}

/** Copies item texts into a new buffer. A slice of Node's buffer pool would keep the whole pool in memory. */
export function joined(items: ReadonlyMap<string, Buffer>): ItemTexts {
  let length = 0
  for (const text of items.values()) length += 1 + text.length
  const bytes = Buffer.allocUnsafeSlow(length)
  const ends = new Uint32Array(items.size)
  let [index, end] = [0, 0]
  for (const text of items.values()) {
    end += bytes.write(',', end)
    end += text.copy(bytes, end)
    ends[index] = end
    index += 1
  }
  return { bytes, ends }
}

/** Returns whether a text begins and ends like the JSON text of an item with the given id. */
export function isItem(id: string, text: Buffer): boolean {
  return (
    id.length === idLength &&
    text.length > itemStart.length + idLength + 1 &&
    text.toString('latin1', 0, itemStart.length + idLength) === itemStart + id &&
    text[text.length - 1] === closeBrace
  )
}

/** Redis keys that another program has corrupted, each with the name of a corrupted field, if known. */
export class CorruptedKeys extends Map<string, Buffer | undefined> {
  /** Records a corrupted key. @returns the error to throw. */
  found(key: string, field?: Buffer): StoreError {
    this.set(key, field)
    return refused(new Error(`another program has written to ${key}`))
  }
}

export type Script = ReturnType<typeof script>

/** Maximum length of a script's reply, in bytes. */
export const scriptReplyBytes = 24 * 1024

const begin = `
local key, id = KEYS[1], ARGV[1]
local unexpected = redis.error_reply('${unexpectedData} another program has written to a key of the store')
local field = redis.call('HGET', key, 'bytes') or redis.call('HLEN', key) == 0 and '0 -'
local bytes = field and string.match(field, '^(%d+) [%w-]+$')
if not bytes or #bytes > 15 then return unexpected end`

/** Beginning of each script that changes an item. The format `%.0f` writes numbers without an exponent. */
const beginChange = `${begin}
local version, text, expected = ARGV[2], ARGV[3], ARGV[4]
local length = redis.call('HSTRLEN', key, id)
local function bytesNow(number) return string.format('%.0f ', math.max(0, number)) .. version end
local function isOther(digest)
  return digest ~= '' and redis.sha1hex(redis.call('HGET', key, id)) ~= digest
end`

// Outcomes of scripts. A script returns the index of its outcome in one of these lists.
export const createOutcomes = ['taken', 'done'] as const
export const changeOutcomes = ['absent', 'done', 'unexpected'] as const

// The server can refuse only the first change of a script, for example if the server has no memory left. So a script
// with several changes first deletes the field with the empty name, which has no effect.
export const scripts = {
  /** ARGV: id. Returns the item's text, its length if that exceeds `scriptReplyBytes`, or nil if there is no item. */
  readShort: script(`
local length = redis.call('HSTRLEN', KEYS[1], ARGV[1])
if length > ${scriptReplyBytes} then return length end
return redis.call('HGET', KEYS[1], ARGV[1])`),

  /** ARGV: id, version, text. */
  create: script(`${beginChange}
if length > 0 then return 0 end
redis.call('HSET', key, id, text, 'bytes', bytesNow(bytes + #text))
return 1`),

  /** ARGV: id, version, text, SHA-1 of the expected text or ''. If memory is full, only a longer text is refused. */
  replace: script(`${beginChange}
if length == 0 then return 0 end
if isOther(expected) then return 2 end
if #text <= length then redis.call('HDEL', key, '') end
redis.call('HSET', key, id, text, 'bytes', bytesNow(bytes + #text - length))
return 1`),

  /** ARGV: id, version, '', SHA-1 of the expected text or ''. Deleting the last item of a bucket deletes the bucket. */
  delete: script(`${beginChange}
if length == 0 then return 0 end
if isOther(expected) then return 2 end
if bytes - length == 0 then return redis.call('HDEL', key, id, 'bytes') - 1 end
redis.call('HDEL', key, '')
redis.call('HSET', key, 'bytes', bytesNow(bytes - length))
if redis.pcall('HDEL', key, id) == 1 then return 1 end
return redis.error_reply('${partlyDone} the item may still exist')`),

  /** Tries each command that the other scripts call. ARGV: the name of a field that does not exist. */
  probe: script(`${begin}
if redis.call('HSTRLEN', key, id) > 0 then return unexpected end
redis.call('HLEN', key)
redis.call('HSCAN', key, '0', 'MATCH', '', 'COUNT', 1)
redis.call('HDEL', key, '')
redis.call('HSET', key, '', '')
return redis.call('HDEL', key, '')`),
}

function script(text: string) {
  return { text, digest: hash('sha1', text) }
}
