/** A store in process memory. Its items are lost when the process ends (spec §1.2). @module */

import { randomUUID } from 'node:crypto'
import type { ItemId } from '../../item/id.js'
import { type EncodedItem, projectFilter, projectOf } from '../../item/item.js'
import { bytesText } from '../../memory/shares.js'
import { type ItemStore, StoreError, type StoreSize } from '../item-store.js'
import { Watchers } from '../watchers.js'
import { Blocks, type ItemLocation } from './blocks.js'
import { mixer } from './item-index.js'

const itemOverhead = 64 // bytes that an item takes besides its text
const projectBits = 16

export interface MemoryStore extends ItemStore {
  size(): StoreSize
  clear(): void
}

/** @param maxBytes maximum total of the items: their texts, plus `itemOverhead` for each. */
export function createMemoryStore(maxBytes: number, given = new Blocks()): MemoryStore {
  let blocks = given
  let size = 0
  let used = 0 // bytes of all texts, with a comma after each
  const prefix = randomUUID() // of versions, different in each process
  let changes = 0
  /** Numbers of the last changes to projects. Those with the same hash share one, so that memory is bounded. */
  const projectChanges = new Float64Array(1 << projectBits)
  const watchers = new Watchers()

  const usedBytes = () => used + size * itemOverhead

  /** @throws {StoreError} `STORE_FULL` if `added` more bytes would exceed the store's limit. */
  function needRoom(added: number): void {
    if (added > 0 && usedBytes() + added > maxBytes) {
      throw new StoreError('STORE_FULL', `The store is full: it may hold ${bytesText(maxBytes)}`)
    }
  }

  function changed(id: ItemId, ...projects: (string | undefined)[]): void {
    changes += 1
    for (const project of projects) {
      if (project !== undefined) projectChanges[projectHash(project)] = changes
    }
    watchers.call([id], projects)
  }

  function clear(): void {
    const { chain, frames, options } = blocks
    chain.open[0]?.memory.change(frames.bytesInUse) // lists that are being read still use the old blocks
    blocks = new Blocks(options)
    size = 0
    used = 0
    changes += 1
    projectChanges.fill(changes)
    watchers.call()
  }

  function version(project?: string): string {
    return `${prefix}-${project === undefined ? changes : projectChanges[projectHash(project)]}`
  }

  function projectAt({ block, position }: ItemLocation): string | undefined {
    return projectOf(block.frame.bytes, block.offsetOf(position))
  }

  function isOther({ block, position }: ItemLocation, expected: EncodedItem | undefined): boolean {
    return expected !== undefined && !block.read(position).equals(expected)
  }

  const { maxBlocks = Number.POSITIVE_INFINITY } = blocks.options
  return {
    guarantees: { isSnapshot: true, isInOrder: true },
    limits: [{ limit: 'store blocks', maximum: maxBlocks, value: () => blocks.chain.current }],

    // Random, so that no client can choose idempotency keys whose ids collide in the index.
    namespace: randomUUID(),

    create(id, item) {
      if (blocks.find(id) !== undefined) return false
      needRoom(item.length + 1 + itemOverhead)
      blocks.add(id, item)
      size += 1
      used += item.length + 1
      changed(id, projectOf(item))
      return true
    },

    read(id) {
      const location = blocks.find(id)
      return location?.block.read(location.position) as EncodedItem | undefined // the bytes that `create` has added
    },

    replace(id, item, expected) {
      const location = blocks.find(id)
      if (location === undefined) return 'absent'
      if (isOther(location, expected)) return 'unexpected'
      const growth = item.length + 1 - location.block.lengthOf(location.position)
      needRoom(growth)
      const before = projectAt(location)
      blocks.replace(location, item)
      used += growth
      changed(id, before, projectOf(item))
      return 'done'
    },

    delete(id, expected) {
      const location = blocks.find(id)
      if (location === undefined) return 'absent'
      if (isOther(location, expected)) return 'unexpected'
      const length = location.block.lengthOf(location.position)
      const before = projectAt(location)
      blocks.remove(location)
      size -= 1
      used -= length
      changed(id, before)
      return 'done'
    },

    list(project) {
      const isWanted = project === undefined ? undefined : projectFilter(project)
      return blocks.chain.list(Math.max(0, used - 1), version(project), isWanted)
    },

    version,
    watch: (watched, callback) => watchers.add(watched, callback),

    size: () => ({
      items: size,
      itemBytes: used - size,
      memoryBytes: blocks.frames.bytesInUse,
      usedBytes: usedBytes(),
      maxBytes,
    }),

    clear,
    healthy: () => true,
    close: clear,
  }
}

function projectHash(project: string): number {
  let hash = 0
  for (let place = 0; place < project.length; place += 1) {
    hash = Math.imul(hash ^ project.charCodeAt(place), mixer)
  }
  return hash >>> (32 - projectBits)
}
