/** Buckets, which are Redis hashes with a field for each item, and the scripts that change buckets. @module */

import { hash } from 'node:crypto'
import type { StoreError } from '../item-store.js'
import { otherRecord, type Purpose, partlyDone, refused, unexpectedData } from './errors.js'

/** Name of the field with the total length of the item texts, the number of items, and the version of the bucket. */
export const bytesField = 'bytes'

/** First character of the names of the fields with a project's number of items in the bucket, and their version. */
const projectSign = ':'

export function projectField(project: string): string {
  return projectSign + project
}

export function isProjectField(name: string): boolean {
  return name.startsWith(projectSign)
}

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
  found(key: string, field?: Buffer, purpose?: Purpose): StoreError {
    this.set(key, field)
    return refused(new Error(`another program has written to ${key}`), purpose)
  }
}

export type Script = ReturnType<typeof script>

/** Maximum length of a script's reply, in bytes. */
export const scriptReplyBytes = 24 * 1024

/** How long a project without items keeps its version, in milliseconds. A tag read earlier must not become valid again. */
const remembered = 3_600_000
/** Maximum length of a project's name, in bytes. A longer name does not fit into the path of a request. */
const maxProjectBytes = 16 * 1024

const begin = `
local key, id = KEYS[1], ARGV[1]
local unexpected = redis.error_reply('${unexpectedData} another program has written to a key of the store')
local field = redis.call('HGET', key, 'bytes') or redis.call('HLEN', key) == 0 and '0 0 0-'
local bytes, items, last = string.match(field or '', '^(%d+) (%d+) (%d+)%-%x*$')
if not bytes or #bytes > 15 or #items > 15 or #last > 15 then return unexpected end`

/** Outcomes of the script `change`, which returns their index. The first one also means that a create found an item. */
export const outcomes = ['absent', 'done', 'unexpected'] as const

// The server can refuse only the first change of a script, for example if the server has no memory left. So a script
// with several changes first deletes the field with the empty name, which has no effect.
export const scripts = {
  /** ARGV: id. Returns the item's text, its length if that exceeds `scriptReplyBytes`, or nil if there is no item. */
  readShort: script(`
local length = redis.call('HSTRLEN', KEYS[1], ARGV[1])
if length > ${scriptReplyBytes} then return length end
return redis.call('HGET', KEYS[1], ARGV[1])`),

  /**
   * Creates, replaces or deletes an item. Returns the index of the outcome, and the item's former project if any.
   * A version is a time in milliseconds, later than that of the bucket's former version, and random digits: after a
   * failover has lost a version, the same time may be given again. If memory is full, only a longer text is refused.
   * KEYS: bucket, and the record if it is on the same server. ARGV: id, kind of change, text, SHA-1 of the expected text
   * or '', time, hyphen and random digits, cursor from which to forget projects or '', number of buckets.
   */
  change: script(`${begin}
local kind, text, expected, time = ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])
if KEYS[2] and redis.pcall('HGET', KEYS[2], 'buckets') ~= ARGV[8] then
  return redis.error_reply('${otherRecord} the record of the store has changed')
end
local old = redis.call('HGET', key, id) or ''
if (old == '') ~= (kind == 'create') then return 0 end
if expected ~= '' and redis.sha1hex(old) ~= expected then return 2 end
local version = ' ' .. (time > last + 0 and ARGV[5] or string.format('%.0f', last + 1)) .. ARGV[6]
local function projectIn(text)
  if string.sub(text, 44, 58) ~= '","project_id":' then return nil end
  local stop = string.find(text, '["\\\\]', 60)
  local isPlain = string.byte(text, stop) == 34
  while string.byte(text, stop) ~= 34 do stop = string.find(text, '["\\\\]', stop + 2) end
  local name = string.sub(text, 60, stop - 1)
  if not isPlain then
    local isText, names = pcall(cjson.decode, '["' .. name .. '"]')
    name = isText and names[1] or name
  end
  return #name <= ${maxProjectBytes} and '${projectSign}' .. name or nil
end
local function counted(project, change)
  local count = string.match(redis.call('HGET', key, project) or '0', '^%d+') + change
  return (count > 0 and count or 0) .. version
end
local from = string.byte(old, 59) == 34 and projectIn(old) or nil
local to = string.byte(text, 59) == 34 and projectIn(text) or nil
items = items + (kind == 'create' and 1 or kind == 'delete' and -1 or 0)
local totals = math.max(0, bytes + #text - #old) .. ' ' .. math.max(0, items) .. version
local project = to or from
local count = project and counted(project, from == to and 0 or to and 1 or -1)
local other = to and from and from ~= to and counted(from, -1)
if #text <= #old then redis.call('HDEL', key, '') end
if kind == 'delete' then
  redis.call('HSET', key, 'bytes', totals, project or 'bytes', count or totals)
elseif project then
  redis.call('HSET', key, id, text, 'bytes', totals, project, count)
else
  redis.call('HSET', key, id, text, 'bytes', totals)
end
if other then redis.call('HSET', key, from, other) end
if kind == 'delete' and redis.pcall('HDEL', key, id) ~= 1 then
  return redis.error_reply('${partlyDone} the item may still exist')
end
if ARGV[7] ~= '' then
  local found = redis.pcall('HSCAN', key, ARGV[7], 'MATCH', '${projectSign}*', 'COUNT', 100)[2] or {}
  for place = 1, #found, 2 do
    local since = string.match(found[place + 1], '^0 (%d+)%-')
    if since and since + ${remembered} < time then redis.pcall('HDEL', key, found[place]) end
  end
end
return from and {1, string.sub(from, 2)} or 1`),

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
