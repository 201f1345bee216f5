/**
 * The format of a bucket, and the scripts that change its items. A bucket is a Redis hash with a field for each item.
 * The field's name is the item's id, and its value is the item's text. The field `bytes` has the total length of all
 * texts, a space and the version of the bucket, a UUID that each change replaces. A key with any other content is
 * called corrupted: another program has written to the key.
 *
 * Scripts make changes that no single Redis command can make. The server runs a script without interruption. The server
 * can refuse a script only before the first change. The reason may be a missing right, lack of memory, disabled writes
 * or unexpected data. So a script either makes one change, or first deletes the field with the empty name. This
 * deletion has no effect, needs no memory, and proves that the server accepts the later changes of the script. A server
 * whose memory is full checks only the first change of a script.
 *
 * @module
 */

import { hash } from 'node:crypto'
import type { ItemFilter } from '../../item/item.js'
import type { StoreError } from '../item-store.js'
import { partlyDone, refused, unexpectedData } from './errors.js'

/** Name of the field with the total length of the texts and the version of the bucket. All other fields are items. */
export const bytesField = 'bytes'

const itemStart = '{"id":"'
const idLength = 36
const closeBrace = 0x7d

export interface Entries {
  /** Value of the `bytes` field, if the entries include this field. */
  readonly bytes: Buffer | undefined
  /** Texts of the items, by id. */
  readonly items: ReadonlyMap<string, Buffer>
  /** Name of a field that is neither an item nor `bytes`, if there is such a field. */
  readonly unexpected: Buffer | undefined
}

/** Parses fields of a bucket. @param reply alternating field names and values. */
export function entriesIn(reply: readonly Buffer[]): Entries {
  const items = new Map<string, Buffer>()
  let bytes: Buffer | undefined
  let unexpected: Buffer | undefined
  for (let index = 0; index < reply.length; index += 2) {
    const [field, value] = [reply[index], reply[index + 1]] as [Buffer, Buffer] // each name has a value
    const id = field.toString('latin1')
    if (id === bytesField) bytes = value
    else if (isItem(id, value)) items.set(id, value)
    else unexpected = field
  }
  return { bytes, items, unexpected }
}

/** The texts of several items, with a comma before each text. */
export interface ItemTexts {
  readonly bytes: Buffer
  /** Offset in `bytes` of the end of each item's text. */
  readonly ends: Uint32Array
}

/** Copies texts into one new buffer, because a slice of Node's pool would keep the whole pool in memory. */
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

/** Returns the texts of the items that a filter selects, each text with the comma before it. */
export function wantedIn({ bytes, ends }: ItemTexts, isWanted: ItemFilter): Buffer[] {
  const wanted: Buffer[] = []
  let start = 0
  for (const end of ends) {
    if (isWanted(bytes, start + 1)) wanted.push(bytes.subarray(start, end))
    start = end
  }
  return wanted
}

/**
 * Returns whether a text begins with `{"id":"` and the given id, and ends with a brace. The rest of the text is not
 * checked.
 */
export function isItem(id: string, text: Buffer): boolean {
  return (
    id.length === idLength &&
    text.length > itemStart.length + idLength + 1 &&
    text.toString('latin1', 0, itemStart.length + idLength) === itemStart + id &&
    text[text.length - 1] === closeBrace
  )
}

/**
 * Keys that another program has written to, each with the name of a corrupted field. The name is `undefined` if the key
 * is not a bucket at all. The store is unhealthy until the content of these keys is valid again.
 */
export class CorruptedKeys extends Map<string, Buffer | undefined> {
  /** Adds a corrupted key. @returns the error for the caller whose request found the key. */
  found(key: string, field?: Buffer): StoreError {
    this.set(key, field)
    return refused(new Error(`another program has written to ${key}`))
  }
}

export interface Script {
  readonly text: string
  /** SHA-1 of the text in hexadecimal digits, which `EVALSHA` takes in place of the text. */
  readonly digest: string
}

/** Maximum length of a script's reply, in bytes. */
export const shortReply = 24 * 1024

/** Lua code at the start of scripts. Reads the total length of the bucket's texts into the variable `bytes`. */
const begin = `
local key, id = KEYS[1], ARGV[1]
local unexpected = redis.error_reply('${unexpectedData} another program has written to a key of the store')
local field = redis.call('HGET', key, 'bytes') or redis.call('HLEN', key) == 0 and '0 -'
local bytes = field and string.match(field, '^(%d+) [%w-]+$')
if not bytes or #bytes > 15 then return unexpected end`

/** Lua code at the start of scripts that change an item. The format `%.0f` writes numbers without an exponent. */
const beginChange = `${begin}
local version, text, expected = ARGV[2], ARGV[3], ARGV[4]
local length = redis.call('HSTRLEN', key, id)
local function bytesNow(number) return string.format('%.0f ', math.max(0, number)) .. version end
local function isOther(digest)
  return digest ~= '' and redis.sha1hex(redis.call('HGET', key, id)) ~= digest
end`

/**
 * Script with ARGV: id. Returns the item's text, the length of a text that exceeds `shortReply`, or nil without an
 * item.
 */
export const readShortScript = script(`
local length = redis.call('HSTRLEN', KEYS[1], ARGV[1])
if length > ${shortReply} then return length end
return redis.call('HGET', KEYS[1], ARGV[1])`)

/** Outcomes of changes, by the number that a script returns. */
export const outcomes = { 0: 'absent', 1: 'done', 2: 'unexpected' } as const

/** Script with ARGV: id, version, text. Returns 1, or 0 if an item with the id exists already. */
export const createScript = script(`${beginChange}
if length > 0 then return 0 end
redis.call('HSET', key, id, text, 'bytes', bytesNow(bytes + #text))
return 1`)

/**
 * Script with ARGV: id, version, text, SHA-1 of the expected text or ''. A server without free memory refuses only a
 * longer text.
 */
export const replaceScript = script(`${beginChange}
if length == 0 then return 0 end
if isOther(expected) then return 2 end
if #text <= length then redis.call('HDEL', key, '') end
redis.call('HSET', key, id, text, 'bytes', bytesNow(bytes + #text - length))
return 1`)

/** Script with ARGV: id, version, '', SHA-1 of the expected text or ''. Deleting the last item deletes the bucket. */
export const deleteScript = script(`${beginChange}
if length == 0 then return 0 end
if isOther(expected) then return 2 end
if bytes - length == 0 then return redis.call('HDEL', key, id, 'bytes') - 1 end
redis.call('HDEL', key, '')
redis.call('HSET', key, 'bytes', bytesNow(bytes - length))
if redis.pcall('HDEL', key, id) == 1 then return 1 end
return redis.error_reply('${partlyDone} the item may still exist')`)

/**
 * Script with ARGV: the name of a field that does not exist. Runs each command that the other scripts run, so that the
 * script fails if the server would refuse one of these commands.
 */
export const probeScript = script(`${begin}
if redis.call('HSTRLEN', key, id) > 0 then return unexpected end
redis.call('HLEN', key)
redis.call('HSCAN', key, '0', 'MATCH', '', 'COUNT', 1)
redis.call('HDEL', key, '')
redis.call('HSET', key, '', '')
return redis.call('HDEL', key, '')`)

function script(text: string): Script {
  return { text, digest: hash('sha1', text) }
}
