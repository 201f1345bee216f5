/** Buckets (Redis hashes with a field for each item), and the scripts that change them. @module */

import { hash } from 'node:crypto'
import { labelAt, projectAt } from '../../item/item.js'
import { quote } from '../../item/json-syntax.js'
import type { StoreError } from '../item-store.js'
import { otherRecord, partlyDone, refused, unexpectedData } from './errors.js'

/** Field with the bucket's total length of item texts, number of items, and version. */
export const bytesField = 'bytes'
const projectSign = ':' // begins a field with a project's number of items, and their version

export function projectField(project: string): string {
  return projectSign + project
}

/** Glob pattern of all fields but those of projects. */
export const notProject = `[^${projectSign}]*`

/** JSON texts of items, with a comma before each. */
export interface ItemTexts {
  readonly bytes: Buffer
  readonly ends: Uint32Array // at which each text ends in `bytes`
}

/** Copies item texts into one buffer. A slice of Node's pool would keep the whole pool in memory. */
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

/** Redis keys that another program has corrupted, with the name of a corrupted field, if known. */
export class CorruptedKeys extends Map<string, Buffer | undefined> {
  /** Records the key, and returns the error for those who asked for it. */
  report(key: string, field?: Buffer): StoreError {
    this.set(key, field)
    return refused(new Error(`another program has written to ${key}`))
  }
}

export type Script = ReturnType<typeof script>

/** Maximum length of a script's reply, in bytes. */
export const scriptReplyBytes = 24 * 1024
const remembered = 3_600_000 // ms for the version of a project without items, so that each poll sees its last change
const maxProjectBytes = 16 * 1024 // in bytes; a longer name doesn't fit into the path of a request

/**
 * Outcomes of the script `change`, by index. `absent`: there is no item to change or, for a create, already an item.
 * With `corrupted`, the reply names the corrupted field.
 */
export const outcomes = ['absent', 'done', 'unexpected', 'corrupted'] as const

export const scripts = {
  /** ARGV: id. Returns the item's text, its length if that exceeds `scriptReplyBytes`, or nil if there is no item. */
  readShort: script(`
local length = redis.call('HSTRLEN', KEYS[1], ARGV[1])
if length > ${scriptReplyBytes} then return length end
return redis.call('HGET', KEYS[1], ARGV[1])`),

  /** Tries each command that the other scripts call. ARGV: the name of a field that does not exist. */
  probe: script(`
local key, id = KEYS[1], ARGV[1]
local field = redis.call('HMGET', key, 'bytes')[1]
local isWhole = field and string.match(field, '^%d+ %d+ %d+%-%x*$') or redis.call('HLEN', key) == 0
if not isWhole or redis.call('HSTRLEN', key, id) > 0 then
  return redis.error_reply('${unexpectedData} another program has written to a key of the store')
end
redis.call('HLEN', key)
redis.call('HSCAN', key, '0', 'MATCH', '', 'COUNT', 1)
redis.call('HDEL', key, '')
redis.call('HSET', key, '', '')
return redis.call('HDEL', key, '')`),
}

/** Argument of the script `change` for a create: there must be no item with the id. */
export const noItem = 'none'

/**
 * Returns the script that creates, replaces or deletes an item. Its reply is the index of the outcome, with the item's
 * former project if that differs, or the corrupted field. It gives the bucket a new version: a time in ms, later than
 * the former version's, and random digits, because after a failover that lost a version, the same time may be used
 * again. KEYS: bucket. ARGV:
 * 1. the item's id, 2. its new text, '' to delete it,
 * 3. SHA-1 of the text it must have now, '' for any text, or `noItem` if it must not exist,
 * 4. the time, 5. a hyphen and the random digits, 6. optional: the `HSCAN` cursor from which to forget projects.
 * @param record the record to compare before each change, if it is on the same server.
 */
export function changeScript(record?: { key: string; buckets: number }): Script {
  return script(`
local key, id, text, expected, time = KEYS[1], ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local found = redis.call('HMGET', key, 'bytes', id)
local field, old = found[1] or redis.call('HLEN', key) == 0 and '0 0 0-', found[2] or ''
local bytes, items, last = string.match(field or '', '^(%d+) (%d+) (%d+)%-')
if not bytes then
  return redis.error_reply('${unexpectedData} another program has written to a key of the store')
end
${recordCheck(record)}
if (old == '') ~= (expected == '${noItem}') then return 0 end
if expected ~= '' and old ~= '' and redis.sha1hex(old) ~= expected then return 2 end
local version = ' ' .. (time > last + 0 and ARGV[4] or string.format('%d', last + 1)) .. ARGV[5]
bytes = math.max(0, bytes + #text - #old)
items = math.max(0, items + (old == '' and 1 or text == '' and -1 or 0))
local totals = string.format('%d %d', bytes, items) .. version
local from, to, number, other
if string.byte(old, ${projectAt + 1}) == ${quote} or string.byte(text, ${projectAt + 1}) == ${quote} then
  local function projectIn(text)
    local name = string.match(text, '^","project_id":"([^"\\\\]*)"', ${labelAt + 1})
    if not name then
      if string.sub(text, ${labelAt + 1}, ${projectAt + 1}) ~= '","project_id":"' then return nil end
      local stop = string.find(text, '["\\\\]', ${projectAt + 2})
      while string.byte(text, stop) ~= ${quote} do stop = string.find(text, '["\\\\]', stop + 2) end
      name = string.sub(text, ${projectAt + 2}, stop - 1)
      local isText, names = pcall(cjson.decode, '["' .. name .. '"]')
      name = isText and names[1] or name
    end
    return #name <= ${maxProjectBytes} and '${projectSign}' .. name or nil
  end
  from, to = projectIn(old), projectIn(text)
  local project = to or from
  if project then
    number = string.match(redis.call('HGET', key, project) or '0', '^%d+')
    if not number then return {3, project} end
    number = math.max(0, number + (from == to and 0 or to and 1 or -1)) .. version
  end
  if to and from and from ~= to then
    other = string.match(redis.call('HGET', key, from) or '0', '^%d+')
    if not other then return {3, from} end
    other = math.max(0, other - 1) .. version
  end
end
-- Without memory, the server refuses the first change of a script, unless it is HDEL. Deleting the field '' has no effect.
if text == '' then
  redis.call('HDEL', key, '')
  redis.call('HSET', key, 'bytes', totals, from or 'bytes', number or totals)
  if redis.pcall('HDEL', key, id) ~= 1 then
    return redis.error_reply('${partlyDone} the item may still exist')
  end
else
  local fields = {id, text, 'bytes', totals, to or from, number}
  if type(redis.pcall('HSET', key, unpack(fields))) == 'table' then
    if #text <= #old then redis.call('HDEL', key, '') end
    redis.call('HSET', key, unpack(fields)) -- if refused again, the reply is this error
  end
end
if other then redis.call('HSET', key, from, other) end
if ARGV[6] then
  local found = redis.pcall('HSCAN', key, ARGV[6], 'MATCH', '${projectSign}*', 'COUNT', 100)[2] or {}
  for place = 1, #found, 2 do
    local since = string.match(found[place + 1], '^0 (%d+)%-')
    if since and time - since > ${remembered} then redis.pcall('HDEL', key, found[place]) end
  end
end
return from and from ~= to and {1, string.sub(from, 2)} or 1`)
}

function recordCheck(record?: { key: string; buckets: number }): string {
  if (record === undefined) return ''
  const key = [...Buffer.from(record.key)].map((byte) => `\\${String(byte).padStart(3, '0')}`)
  return `
if redis.pcall('HGET', '${key.join('')}', 'buckets') ~= '${record.buckets}' then
  return redis.error_reply('${otherRecord} the record of the store has changed')
end`
}

function script(text: string) {
  return { text, digest: hash('sha1', text) }
}
