/** Tools that let agents use the items: their descriptions, arguments and calls. @module */

import { ApiError } from '../interface/errors.js'
import type { EncodedItem } from '../item/item.js'
import { JsonSyntaxError } from '../item/json-syntax.js'
import { seedObjects } from '../item/seed-objects.js'
import { ReadMemory } from '../memory/read-memory.js'
import { kibibyte } from '../memory/shares.js'
import type { ItemList } from '../store/item-store.js'
import { type Conditions, itemTag } from './conditions.js'
import type { Exchange } from './exchange.js'
import { type ItemOperations, itemIdOf, present, type ReceivedItem } from './items.js'
import { isObject } from './mcp-message.js'
import { untilWorkMayRun } from './pacing.js'
import { maxWait } from './parameters.js'

export type Texts = readonly (Buffer | string)[] // blocks of text for an agent

type Tool = {
  readonly description: string
  readonly required?: readonly ArgumentName[]
  readonly optional?: readonly ArgumentName[]
  readonly isReading?: true
} & (
  | { run(o: ItemOperations, exchange: Exchange, given: Given): Promise<Texts> }
  | {
      /** Stores the item that the argument `data` contains. */
      store(o: ItemOperations, exchange: Exchange, item: ReceivedItem, given: Given): Promise<void>
    }
)

type ArgumentName = keyof typeof schemas
type Given = Readonly<Partial<Record<ArgumentName, string>>> // without those of the item to store

const schemas = {
  id: { type: 'string', description: 'Id of the item' },
  data: { type: 'object', description: 'All members of the item' },
  project_id: { type: 'string', description: 'Project: any name for items that belong together' },
  key: { type: 'string', description: 'Idempotency-Key: your own name for this create, in ASCII' },
  if_match: { type: 'string', description: 'Tag that you know: no other state is changed' },
  tag: { type: 'string', description: 'Tag that you know; by default, the current tag' },
  seconds: { type: 'number', description: `Time limit from 0 to ${maxWait}; by default, 30` },
} as const

const table: Readonly<Record<string, Tool>> = {
  list_items: {
    description:
      'Lists the items, all or those of a project, as a JSON array, then the tag of the list. The store keeps JSON objects that several agents and programs change at once, without losing changes. A queue is a project with an item for each job: take a job with replace_item and if_match, adding your name and a time limit; once it is done, delete it with its new tag.',
    optional: ['project_id'],
    isReading: true,
    run: async (operations, exchange, given) =>
      listTexts(exchange, await operations.list(given.project_id)),
  },
  get_item: {
    description:
      'Reads an item, then its tag. The tag stands for exactly this content, and each change gives the item another: pass it as if_match to change only what you have read.',
    required: ['id'],
    isReading: true,
    run: currentTexts,
  },
  create_item: {
    description:
      'Stores a new item, and returns it with its generated id, then its tag. With a key, you can repeat the call safely, for example after a timeout: the same key and data return the same item, and nothing is created twice.',
    required: ['data'],
    optional: ['project_id', 'key'],
    async store(operations, exchange, item) {
      await operations.create(exchange, item)
    },
  },
  replace_item: {
    description:
      'Replaces all members of an item, and returns it, then its new tag. Read the item first, and pass its tag as if_match, and its project_id again, without which it leaves its project. If somebody has changed it since, the error PRECONDITION_FAILED comes with the current item and its tag: apply your change to that item, and call again with that tag. A lock is an item with an owner and a time limit: take it with if_match while it has no owner or its time is over, and free it in the same way.',
    required: ['id', 'data'],
    optional: ['project_id', 'if_match'],
    store: (operations, exchange, item, given) =>
      operations.replace(exchange, item, ifMatchIn(given)),
  },
  delete_item: {
    description:
      'Deletes an item. With if_match, it is deleted only if nobody has changed it since you read it; otherwise, see replace_item.',
    required: ['id'],
    optional: ['if_match'],
    async run(operations, exchange, given) {
      await operations.delete(exchange, itemIdOf(exchange), ifMatchIn(given))
      return ['The item is deleted.']
    },
  },
  wait_for_change: {
    description:
      'Waits until an item (id), the list of a project (project_id) or the list of all items has another tag, and returns it as get_item or list_items does. Call it again if nothing has changed.',
    optional: ['id', 'project_id', 'tag', 'seconds'],
    isReading: true,
    async run(operations, exchange, { id, project_id: project, tag: known, seconds = '30' }) {
      const limit = Number(seconds)
      if (id !== undefined && project !== undefined) throw invalidCall('give id or project_id')
      if (!(limit >= 0 && limit <= maxWait)) throw invalidCall(`seconds must be 0 to ${maxWait}`)
      exchange.releaseBody() // the body of a call that waits must not keep others out
      if (id === undefined) {
        const tag = known ?? (await operations.taggedList(project)).tag
        const condition = conditionOf('ifNoneMatch', tag)
        const result = await operations.listUntilModified(exchange, condition, project, limit)
        if (!result?.modified) return ['Nothing has changed.', tagText(tag)]
        return listTexts(exchange, await operations.list(project, result.modified))
      }
      const itemId = itemIdOf(exchange)
      const tag = known ?? present(exchange, await operations.read(itemId)).tag
      const condition = conditionOf('ifNoneMatch', tag)
      const result = await operations.itemUntilModified(exchange, condition, itemId, limit)
      const { modified } = present(exchange, result)
      return modified ? itemTexts(modified) : ['Nothing has changed.', tagText(tag)]
    },
  },
}

export const tools = new Map(Object.entries(table))

export const listedTools = [...tools].map(([name, tool]) => {
  const { description, required = [], optional = [], isReading = false } = tool
  const names = [...required, ...optional]
  const properties = Object.fromEntries(names.map((each) => [each, schemas[each]]))
  const inputSchema = { type: 'object', properties, required, additionalProperties: false }
  const annotations = { readOnlyHint: isReading, openWorldHint: false }
  return { name, description, inputSchema, annotations }
})

/** Reads the arguments of a call, without the item in them. @throws {ApiError} `VALIDATION_ERROR`. */
export function argumentsOf({ required = [], optional = [] }: Tool, sent: unknown): Given {
  const values = sent ?? {}
  if (!isObject(values)) throw invalidCall('arguments must be an object')
  const names = [...required, ...optional]
  const unknown = Object.keys(values).find((each) => !names.some((name) => name === each))
  if (unknown !== undefined) throw invalidCall(`"${unknown}" is none of ${names.join(', ')}`)
  const given: Record<string, string> = {}
  for (const name of names) {
    if (name === 'data' || (name === 'project_id' && names.includes('data'))) continue // `itemIn` checks them
    const value = values[name] ?? undefined
    // An empty tag or key is an error: if it were ignored, a call meant to be safe could overwrite or repeat a change.
    const isAbsent = value === undefined || (value === '' && name !== 'if_match' && name !== 'key')
    if (isAbsent && optional.includes(name)) continue
    if (value === '') throw invalidCall(`${name} must not be empty`)
    if (typeof value !== schemas[name].type)
      throw invalidCall(`${name} must be a ${schemas[name].type}`)
    given[name] = String(value)
  }
  return given
}

function invalidCall(problem: string): ApiError {
  return new ApiError('VALIDATION_ERROR', `Invalid arguments: ${problem}`)
}

/** Strips a tag's `W/` and quotes. Agents get and send tags without them, because they easily lose quotes. */
function bare(tag: string): string {
  return tag.replaceAll(/^W\/|"/g, '')
}

function conditionOf(name: keyof Conditions, tag: string): Conditions {
  return { ifMatch: undefined, ifNoneMatch: undefined, [name]: [`"${bare(tag)}"`] }
}

function ifMatchIn({ if_match: tag }: Given): Conditions | undefined {
  if (tag === '*') return { ifMatch: tag, ifNoneMatch: undefined }
  return tag === undefined ? undefined : conditionOf('ifMatch', tag)
}

function tagText(tag: string): string {
  return `tag: ${bare(tag)}`
}

/** Reads the item whose id is the exchange's `segment`. */
export async function currentTexts(operations: ItemOperations, exchange: Exchange): Promise<Texts> {
  return itemTexts(present(exchange, await operations.read(itemIdOf(exchange))))
}

export async function itemTexts({ item }: { readonly item: EncodedItem }): Promise<Texts> {
  return [item, tagText(await itemTag(item))]
}

const maxListBytes = 256 * kibibyte // a longer list is cut, because an agent's context is small

async function listTexts(exchange: Exchange, { list, tag }: { list: ItemList; tag: string }) {
  const memory = new ReadMemory()
  exchange.countUntilClosed(memory)
  const parts = [Buffer.from('[')]
  let left = maxListBytes
  try {
    for await (const chunk of list.chunks) {
      parts.push(Buffer.from(chunk.subarray(0, left)))
      memory.change(Math.min(chunk.length, left))
      left -= chunk.length
      if (left < 0 || exchange.response.destroyed) break
    }
  } finally {
    list.release()
  }
  const start = Buffer.concat(parts)
  if (left >= 0) return [Buffer.concat([start, Buffer.from(']')]), tagText(tag)]
  let [count, end] = [0, 1]
  try {
    for (const item of seedObjects(start)) {
      if (item !== undefined) [count, end] = [count + 1, item.end]
      if (item === undefined || count % 4 === 0) await untilWorkMayRun() // 16 KiB at most
    }
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error // thrown where the list is cut
  }
  const note = `The list is longer than 256 KiB. These are its first ${count} items. For less, give a project_id, keep fewer items in a project, or use get_item.`
  return [Buffer.concat([start.subarray(0, end), Buffer.from(']')]), tagText(tag), note]
}
