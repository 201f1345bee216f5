/** What a list of items has: its projects, and the members that make columns. @module */

import { type Item, projectOf } from './item.js'
import { membersOf } from './json-text.js'

export interface Overview {
  /** How many items have each `project_id`; of many, those seen first. */
  readonly projects: ReadonlyMap<string | null, number>
  /** How many of the first items have a member of this name, without `id` and `project_id`. */
  readonly names: ReadonlyMap<string, number>
}

/** Items that are looked at for their members. Later ones may have others, which the JSON shows. */
const sample = 1_000
/** What is remembered: an item can have a million members, and each item a project of its own. */
const mostNames = 200
const mostProjects = 500

export interface OverviewMaker extends Overview {
  add(item: Item): void
}

/** An overview that grows with the list. */
export function createOverview(): OverviewMaker {
  const projects = new Map<string | null, number>()
  const names = new Map<string, number>()
  let seen = 0
  return {
    projects,
    names,
    add(item) {
      count(projects, projectOf(item), mostProjects)
      seen += 1
      if (seen > sample) return
      for (const { name } of membersOf(item.text)) {
        if (name === 'id' || name === 'project_id') continue
        count(names, name, mostNames)
      }
    },
  }
}

/** The most frequent first; of those that are equally frequent, the one seen first. */
export function mostUsed<K>(counts: ReadonlyMap<K, number>, maximum: number): K[] {
  return [...counts]
    .sort(([, one], [, other]) => other - one)
    .slice(0, maximum)
    .map(([key]) => key)
}

/** @param most keys that are remembered. */
function count<K>(counts: Map<K, number>, key: K, most: number): void {
  const number = counts.get(key)
  if (number !== undefined || counts.size < most) counts.set(key, (number ?? 0) + 1)
}
