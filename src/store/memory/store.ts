/**
 * Items in process memory, gone when the process ends (spec §1.2): blocks with the bytes of the list
 * in the order of creation, and an index from ids to blocks (bench/CHOICES.md).
 *
 * @module
 */

import { randomUUID } from 'node:crypto'
import type { ItemId } from '../../item/id.js'
import { type EncodedItem, projectFilter, projectOf } from '../../item/item.js'
import { bytesText } from '../../memory/shares.js'
import { type ItemStore, StoreError, type StoreSize } from '../item-store.js'
import { Watchers } from '../watchers.js'
import { Blocks, type Place } from './blocks.js'

/** What an item takes besides its text, in bytes: its share of index, tables and empty room. */
const itemOverhead = 64

export interface MemoryStore extends ItemStore {
  size(): StoreSize
  clear(): void
}

interface MemoryStoreOptions {
  /** Maximum number of blocks, which have objects in the JavaScript heap; unbounded by default. */
  readonly maxBlocks?: number
  /** Bytes of a block. With more, taking an item out moves more; with less, a list has more pieces. */
  readonly blockBytes?: number
}

/**
 * A store in the memory of this process.
 * @param maxBytes maximum bytes that the items may take, their share of index and tables included.
 */
export function createMemoryStore(maxBytes: number, options: MemoryStoreOptions = {}): MemoryStore {
  const { maxBlocks = Number.POSITIVE_INFINITY, blockBytes = 64 * 1024 } = options
  return storeOf(new Blocks({ maxBlocks, blockBytes }), maxBytes)
}

/** The store of these blocks, which tests keep to look into it. */
export function storeOf(given: Blocks, maxBytes: number): MemoryStore {
  let blocks = given
  let size = 0
  /** Bytes of all texts with their commas. */
  let used = 0
  /** Another process, or the next one, counts from another start. */
  const start = randomUUID()
  let changes = 0
  const projectChanges = new ProjectChanges()
  const watchers = new Watchers()

  const usedBytes = () => used + size * itemOverhead

  /** Makes sure that there is room. Taking less than before is always possible. */
  function needRoom(added: number): void {
    if (added > 0 && usedBytes() + added > maxBytes) {
      throw new StoreError('STORE_FULL', `The store is full: it may hold ${bytesText(maxBytes)}`)
    }
  }

  /** @param projects that of the item before the change, and after it. */
  function changed(id: ItemId, ...projects: (string | undefined)[]): void {
    changes += 1
    for (const project of projects) projectChanges.add(project, changes)
    watchers.call([id], projects)
  }

  function clear(): void {
    blocks = new Blocks(blocks.options) // lists that are being read keep the old ones
    size = 0
    used = 0
    changes += 1
    projectChanges.addAll(changes)
    watchers.call()
  }

  function version(project?: string): string {
    return `${start}-${project === undefined ? changes : projectChanges.latest(project)}`
  }

  function projectAt({ block, position }: Place): string | undefined {
    return projectOf(block.frame.bytes, block.offsetOf(position))
  }

  /** Comparing the bytes of a large item would take long, but each read returns the same memory until it is replaced. */
  function isOther({ block, position }: Place, expected: EncodedItem | undefined): boolean {
    if (expected === undefined) return false
    const text = block.read(position)
    return text !== expected && (block.isLarge || !text.equals(expected))
  }

  return {
    guarantees: { isSnapshot: true, isInOrder: true },

    // Random, so that nobody can choose keys whose ids meet in the same place of the index.
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
      const place = blocks.find(id)
      return place?.block.read(place.position) as EncodedItem | undefined // as it was put there
    },

    replace(id, item, expected) {
      const place = blocks.find(id)
      if (place === undefined) return 'absent'
      if (isOther(place, expected)) return 'unexpected'
      const growth = item.length + 1 - place.block.lengthOf(place.position)
      needRoom(growth)
      const before = projectAt(place)
      blocks.replace(place, item)
      used += growth
      changed(id, before, projectOf(item))
      return 'done'
    },

    delete(id, expected) {
      const place = blocks.find(id)
      if (place === undefined) return 'absent'
      if (isOther(place, expected)) return 'unexpected'
      const length = place.block.lengthOf(place.position)
      const before = projectAt(place)
      blocks.remove(place)
      size -= 1
      used -= length
      changed(id, before)
      return 'done'
    },

    list: (project) =>
      blocks.chain.list(
        Math.max(0, used - 1),
        version(project),
        project === undefined ? undefined : projectFilter(project),
      ),

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

/** Maximum total length of the names of remembered projects, in characters. */
const maxLength = 512 * 1024
/** Characters that a remembered project counts besides its name: 10,000 projects with short names fit. */
const overhead = 40

/**
 * When the items of each project last changed, as the number of that change. Only the projects that changed last are
 * remembered. For any other, it is the number of the last change that is forgotten: too late, but never too early.
 */
export class ProjectChanges {
  /** From the project that changed longest ago to the one that changed last. */
  readonly #latest = new Map<string, number>()
  #length = 0
  #forgotten = 0

  /** The number of the last change of this project's items, or a later one. */
  latest(project: string): number {
    return this.#latest.get(project) ?? this.#forgotten
  }

  /** @param change its number, which is higher than those before. */
  add(project: string | undefined, change: number): void {
    if (project === undefined) return
    if (!this.#latest.delete(project)) this.#length += project.length + overhead
    this.#latest.set(project, change)
    for (const [oldest, number] of this.#latest) {
      if (this.#length <= maxLength) break
      this.#latest.delete(oldest)
      this.#length -= oldest.length + overhead
      this.#forgotten = number
    }
  }

  /** Everything has changed. */
  addAll(change: number): void {
    this.#latest.clear()
    this.#length = 0
    this.#forgotten = change
  }
}
