/**
 * A bucket: one hash. The field of each item's id has its text. The field `bytes` has the length of all texts and,
 * after a space, the version of the bucket, which each change replaces. A key with anything else is corrupted: another
 * program has written to it.
 *
 * Scripts do what no single command of the server can do. The server runs a script without interruption, and refuses it
 * only before its first change: for a missing right, for lack of memory, because it takes no writes, or for unexpected
 * data. So a script makes one change, or begins by deleting the field without a name. That has no effect, needs no
 * memory, and proves that the changes after it are allowed. A server whose memory is full checks only the first change.
 *
 * @module
 */

import { hash } from 'node:crypto'
import type { ItemFilter } from '../../item/item.js'
import type { StoreError } from '../item-store.js'
import { partlyDone, refused, unexpectedData } from './errors.js'

/** The field of a bucket that is not an item. */
export const bytesField = 'bytes'

const itemStart = '{"id":"'
const idLength = 36
const closeBrace = 0x7d

/** Entries of a bucket. */
export interface Entries {
  /** The value of the field `bytes`, if it is among them. */
  readonly bytes: Buffer | undefined
  /** Texts by id. */
  readonly items: ReadonlyMap<string, Buffer>
  /** A field that is neither an item's nor `bytes`. */
  readonly unexpected: Buffer | undefined
}

/** @param reply fields and their values in turn. */
export function entriesIn(reply: readonly Buffer[]): Entries {
  const items = new Map<string, Buffer>()
  let bytes: Buffer | undefined
  let unexpected: Buffer | undefined
  for (let index = 0; index < reply.length; index += 2) {
    const [field, value] = [reply[index], reply[index + 1]] as [Buffer, Buffer] // there are as many values as fields
    const id = field.toString('latin1')
    if (id === bytesField) bytes = value
    else if (isItem(id, value)) items.set(id, value)
    else unexpected = field
  }
  return { bytes, items, unexpected }
}

/** The texts of several items, each after a comma. */
export interface ItemTexts {
  readonly bytes: Buffer
  /** Where each item ends, in the order of the texts. */
  readonly ends: Uint32Array
}

/** Joins texts, each after a comma, in memory of their own: a slice of Node's pool would keep the whole pool. */
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

/** Returns the texts of the items that a filter wants, each after a comma. */
export function wantedIn({ bytes, ends }: ItemTexts, isWanted: ItemFilter): Buffer[] {
  const wanted: Buffer[] = []
  let start = 0
  for (const end of ends) {
    if (isWanted(bytes, start + 1)) wanted.push(bytes.subarray(start, end))
    start = end
  }
  return wanted
}

/** Whether the text begins with the id, as `{"id":"…"`, and ends like an object. */
export function isItem(id: string, text: Buffer): boolean {
  return (
    id.length === idLength &&
    text.length > itemStart.length + idLength + 1 &&
    text.toString('latin1', 0, itemStart.length + idLength) === itemStart + id &&
    text[text.length - 1] === closeBrace
  )
}

/**
 * Keys that another program has written to, each with a field that is not an item's; `undefined` if the key as a whole
 * is not a bucket. The store is unhealthy until they are as the service left them.
 */
export class CorruptedKeys extends Map<string, Buffer | undefined> {
  /** Adds a key. @returns the error for the caller who has met it. */
  found(key: string, field?: Buffer): StoreError {
    this.set(key, field)
    return refused(new Error(`another program has written to ${key}`))
  }
}

export interface Script {
  readonly text: string
  /** SHA-1 of the text in hexadecimal digits, by which the server knows the script. */
  readonly digest: string
}

/** Maximum length of a script's reply, in bytes. */
export const shortReply = 24 * 1024

/** Reads the length of all texts into `bytes`. `%.0f` writes numbers without an exponent. */
const begin = `
local key, id = KEYS[1], ARGV[1]
local unexpected = redis.error_reply('${unexpectedData} another program has written to a key of the store')
local field = redis.call('HGET', key, 'bytes') or redis.call('HLEN', key) == 0 and '0 -'
local bytes = field and string.match(field, '^(%d+) [%w-]+$')
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
  return { text, digest: hash('sha1', text) }
}
