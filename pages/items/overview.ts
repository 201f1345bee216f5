/** What is in a list of items: the projects, and the members that can be columns. @module */

import { type Item, projectOf } from './item.js'
import { type Member, membersOf } from './members.js'

/** What is in the items of a list, or of one project. */
export interface Shape {
  /**
   * The names of members of the first items, without `id` and `project_id`, in the order in which they first appear; of
   * too many, the most frequent ones.
   */
  readonly names: readonly string[]
  /** How many other names these items have. */
  readonly otherNames: number
  /** How many characters the widest value of each member takes among these items, at most {@link widest}. */
  readonly widths: ReadonlyMap<string, number>
  /** Members that are something other than a number in one of these items. */
  readonly notNumeric: ReadonlySet<string>
  /** The members that most of these items have, as JSON texts with an empty value of the first type seen. */
  blanks(): string[]
}

export interface Overview {
  /** How many items have each `project_id`; of too many, those that come first. */
  readonly projects: ReadonlyMap<string | null, number>
  /** @param project `undefined` for all items. */
  shapeOf(project: string | null | undefined): Shape
}

/** How many items of a list are searched for members, how many more of each project, and how many members of each. */
const sample = 1_000
const projectSample = 50
const mostMembers = 200
/** How many there are to choose from. */
const mostNames = 200
const mostProjects = 500
/** Longer values do not make a column wider, in characters. */
const widest = 28

export interface OverviewMaker extends Overview {
  add(item: Item): void
}

/** An overview that grows with the list. */
export function createOverview(): OverviewMaker {
  const projects = new Map<string | null, number>()
  const all = createShape()
  const shapes = new Map<string | null, ReturnType<typeof createShape>>()
  let seen = 0
  return {
    projects,
    shapeOf: (project) => (project === undefined ? all : (shapes.get(project) ?? all)),
    add(item) {
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

/** Empty values by the first character of a value of the same type. */
const blanks: Readonly<Record<string, string>> = {
  '"': '""',
  '[': '[]',
  '{': '{}',
  t: 'false',
  f: 'false',
  n: 'null',
}

function createShape(): Shape & { add(text: string, members: readonly Member[]): void } {
  const counts = new Map<string, number>()
  const widths = new Map<string, number>()
  const firsts = new Map<string, string>()
  const notNumeric = new Set<string>()
  let items = 0
  /** Made on demand; `undefined` when items were added since. */
  let names: string[] | undefined
  return {
    widths,
    notNumeric,
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
    blanks: () =>
      [...counts]
        .filter(([, number]) => number > items / 2)
        .map(([name]) => `${JSON.stringify(name)}: ${blanks[firsts.get(name) ?? 'n'] ?? '0'}`),
    add(text, members) {
      items += 1
      names = undefined
      for (const { name, valueStart, end } of members) {
        const first = text.charAt(valueStart)
        const shown = text.slice(valueStart, Math.min(end, valueStart + widest))
        // Letters are narrower than digits, on the whole.
        const isNumeric = /[-\d]/.test(first)
        const width = isNumeric ? widthOf(shown) : Math.ceil(0.9 * widthOf(shown)) - 1
        if (width > (widths.get(name) ?? 0)) widths.set(name, width)
        if (!isNumeric) notNumeric.add(name)
        if (name === 'id' || name === 'project_id') continue
        count(counts, name)
        if (!firsts.has(name) || firsts.get(name) === 'n') firsts.set(name, first)
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
