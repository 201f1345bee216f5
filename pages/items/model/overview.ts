/** Statistics about a list of items: the projects, and the members that can become columns. @module */

import { type Item, projectOf } from './item.js'
import { type Member, membersOf } from './members.js'
import { typeOf } from './values.js'

export type Overview = ReturnType<typeof createOverview>
type Shape = ReturnType<typeof createShape>

/** Maximum numbers of items examined per list and per project, and of members examined per item. */
const sample = 1_000
const projectSample = 50
const mostMembers = 200
/** Maximum numbers of columns and projects to choose from. */
const mostNames = 100
const mostProjects = 500
const widest = 28 // characters, at most, for a value's computed width
export const long = 24 // characters; columns may cut off a value of this length
// A member is common if at least this share of the items has it: with two projects of equal size, if both have it.
const commonShare = 0.6

export function createOverview() {
  const projects = new Map<string | null, number>()
  const all = createShape()
  const shapes = new Map<string | null, Shape>()
  let seen = 0
  return {
    /** Number of items in each project. With too many projects, only the first ones are counted. */
    projects,
    shapeOf: (project: string | null | undefined) =>
      project === undefined ? all : (shapes.get(project) ?? all),
    add(item: Item) {
      const project = projectOf(item)
      if (projects.has(project) || projects.size < mostProjects) count(projects, project)
      seen += 1
      const seenOfProject = projects.get(project)
      if (seen > sample && !(seenOfProject && seenOfProject <= projectSample)) return
      const members: Member[] = []
      for (const member of membersOf(item.text)) if (members.push(member) === mostMembers) break
      if (seen <= sample) all.add(item.text, members)
      if (seenOfProject === undefined) return
      const shape = shapes.get(project) ?? createShape()
      shapes.set(project, shape)
      shape.add(item.text, members)
    },
  }
}

function createShape() {
  const counts = new Map<string, number>()
  const widths = new Map<string, number>()
  const blanks = new Map<string, string>()
  const notAtEnd = new Set<string>()
  let items = 0
  let names: string[] | undefined
  /** Common members get columns first. `project_id` is always common. */
  const isCommon = (name: string) =>
    name === 'project_id' || (counts.get(name) ?? 0) >= items * commonShare
  return {
    /** Width of each member's widest value, in characters; at most {@link widest}. */
    widths,
    isCommon,
    notAtEnd,
    /** Member names in order of appearance, without `id` and `project_id`. If too many, without the rarest. */
    get names() {
      if (!names) {
        const kept = new Set(mostUsed(counts, mostNames))
        names = [...counts.keys()].filter((name) => kept.has(name))
      }
      return names
    },
    get otherNames() {
      return Math.max(0, counts.size - mostNames)
    },
    /** Returns each common member with an empty value of the type first seen, as JSON text. */
    blanks: () =>
      [...counts.keys()]
        .filter(isCommon)
        .map((name) => `${JSON.stringify(name)}: ${blanks.get(name)}`),
    add(text: string, members: readonly Member[]) {
      items += 1
      names = undefined
      for (const { name, valueStart, end } of members) {
        const shown = text.slice(valueStart, Math.min(end, valueStart + widest))
        const type = typeOf(shown)
        const [share, less] = type.width
        const width = Math.ceil(share * widthOf(shown)) - less
        if (width > (widths.get(name) ?? 0)) widths.set(name, width)
        if (!type.isAtEnd) notAtEnd.add(name)
        if (name === 'id' || name === 'project_id') continue
        count(counts, name)
        if ((blanks.get(name) ?? 'null') === 'null') blanks.set(name, type.blank)
      }
    },
  }
}

/** East Asian characters are twice as wide as Latin ones in a monospaced font. */
const wide = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\uff01-\uff60]/g

export function widthOf(text: string): number {
  return Math.min(text.length + (text.match(wide)?.length ?? 0), widest)
}

/** Returns up to `maximum` keys, highest counts first. Keys with equal counts keep their order. */
export function mostUsed<K>(counts: ReadonlyMap<K, number>, maximum: number): K[] {
  return [...counts]
    .sort(([, one], [, other]) => other - one)
    .slice(0, maximum)
    .map(([key]) => key)
}

function count<K>(counts: Map<K, number>, key: K): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}
