/** What is in a list of items: the projects, and the members that can be columns. @module */

import { type Item, projectOf } from './item.js'
import { membersOf } from './members.js'

export interface Overview {
  /** How many items have each `project_id`; of too many, those that come first. */
  readonly projects: ReadonlyMap<string | null, number>
  /**
   * The names of members of the first items, without `id` and `project_id`: the most frequent ones, in
   * descending order.
   */
  readonly names: readonly string[]
  /** How many other names these items have. */
  readonly otherNames: number
  /** How many characters the widest value of each member takes among these items, at most {@link widest}. */
  readonly widths: ReadonlyMap<string, number>
  /** Members that are something other than a number in one of these items. */
  readonly notNumeric: ReadonlySet<string>
}

/** How many items are searched for members, and how many members of each. */
const sample = 1_000
const mostMembers = 200
/** How many there are to choose from. */
const mostNames = 200
const mostProjects = 500
/** Longer values do not make a column wider, in characters. */
const widest = 32

/** How many columns a table has by default; `project_id` is one of them. */
const defaultCount = 8

export interface OverviewMaker extends Overview {
  add(item: Item): void
}

/** An overview that grows with the list. */
export function createOverview(): OverviewMaker {
  const projects = new Map<string | null, number>()
  const counts = new Map<string, number>()
  const widths = new Map<string, number>()
  const notNumeric = new Set<string>()
  let seen = 0
  /** Sorted on demand; `undefined` when items were added since. */
  let names: string[] | undefined
  return {
    projects,
    widths,
    notNumeric,
    get names() {
      names ??= mostUsed(counts, mostNames)
      return names
    },
    get otherNames() {
      return Math.max(0, counts.size - mostNames)
    },
    add(item) {
      const project = projectOf(item)
      if (projects.has(project) || projects.size < mostProjects) count(projects, project)
      seen += 1
      if (seen > sample) return
      names = undefined
      let members = 0
      for (const { name, valueStart, end, count: size } of membersOf(item.text)) {
        const shown = item.text.slice(valueStart, Math.min(end, valueStart + widest))
        const width = size > 0 ? `{${size}}`.length : widthOf(shown)
        if (width > (widths.get(name) ?? 0)) widths.set(name, width)
        if (!/[-\d]/.test(item.text.charAt(valueStart))) notNumeric.add(name)
        if (name !== 'id' && name !== 'project_id') count(counts, name)
        members += 1
        if (members === mostMembers) break
      }
    },
  }
}

/** East Asian characters that take the space of two in a monospaced font. */
const wide = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\uff01-\uff60]/g

/** How wide a text is, in characters, at most {@link widest}. */
export function widthOf(text: string): number {
  return Math.min(text.length + (text.match(wide)?.length ?? 0), widest)
}

/** The default columns of a table: the members that most items have. */
export function defaultColumns({ names }: Overview): string[] {
  return ['project_id', ...names.slice(0, defaultCount - 1)]
}

/** The most frequent first; of those that are equally frequent, the one that came first. */
export function mostUsed<K>(counts: ReadonlyMap<K, number>, maximum: number): K[] {
  return [...counts]
    .sort(([, one], [, other]) => other - one)
    .slice(0, maximum)
    .map(([key]) => key)
}

function count<K>(counts: Map<K, number>, key: K): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}
