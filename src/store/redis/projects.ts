/**
 * The items of a project. Its items are in all buckets, among others, so that the versions of buckets say nothing about
 * one project: all items are read, once for everyone who asks at that time, and the texts of the project are hashed.
 *
 * @module
 */

import { hash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { projectOf } from '../../item/item.js'
import { type BucketStates, hasItems } from './bucket-states.js'
import { type BucketTexts, itemsIn } from './list.js'

/** Maximum length of a project's texts, in bytes, for which its version depends on its own items alone. */
const maxProjectBytes = 1024 * 1024
/** Maximum length of texts that are kept while all items are read, in bytes. */
const maxKeptBytes = 16 * 1024 * 1024
/** Time for which items are compared in one turn of the event loop, in milliseconds. */
const turnTime = 1
/** Maximum number of versions that are remembered. */
const maxVersions = 10_000

/** The items of a project at the time when they were read. */
export interface ProjectItems {
  readonly version: string
  /** The texts in no order; `undefined` if they are too long, or were not asked for. */
  readonly texts: readonly Buffer[] | undefined
}

type Found = ReadonlyMap<string, ProjectItems>

/** Projects to look for together. */
interface Search {
  /** Whether the texts are wanted. */
  readonly projects: Map<string, boolean>
  readonly found: Promise<Found>
}

export type Projects = ReturnType<typeof createProjects>

export function createProjects(states: BucketStates, texts: BucketTexts) {
  /** The search that begins after the present one. */
  let next: Search | undefined
  let latest: Promise<unknown> = Promise.resolve()
  /** Versions of projects that belong to one version of all buckets. */
  let known = { version: '', ofProjects: new Map<string, string>() }

  /** Joins the next search. @throws {StoreError} */
  async function find(wanted: Iterable<string>, withTexts: boolean): Promise<Found> {
    if (next === undefined) {
      const projects = new Map<string, boolean>()
      const found = latest.then(() => {
        next = undefined
        return search(projects)
      })
      latest = found.catch(() => undefined)
      next = { projects, found }
    }
    const { projects, found } = next
    for (const project of wanted) projects.set(project, withTexts || projects.get(project) === true)
    return await found
  }

  async function search(projects: ReadonlyMap<string, boolean>): Promise<Found> {
    const { states: all, version } = await states.all()
    const projectsFound = new Map(
      [...projects].map(([project, keeps]) => [project, new FoundSoFar(keeps)]),
    )
    let kept = 0
    let begun = performance.now()
    for await (const buckets of itemsIn(all.filter(hasItems), texts)) {
      for (const { bytes, ends } of buckets) {
        let start = 1
        for (const end of ends) {
          const found = projectsFound.get(projectOf(bytes, start) ?? '') // no project is empty
          const text = bytes.subarray(start, end)
          start = end + 1
          if (found === undefined) continue
          kept += found.add(text, kept < maxKeptBytes)
          if (found.length > maxProjectBytes) continue
          found.digests.push(hash('sha1', text, 'binary')) // of at most 1 MiB, in about a millisecond
        }
        if (performance.now() - begun < turnTime) continue
        await nextTurn()
        begun = performance.now()
      }
    }
    if (known.version !== version || known.ofProjects.size > maxVersions) {
      known = { version, ofProjects: new Map() }
    }
    return new Map(
      [...projectsFound].map(([project, found]) => {
        const own = found.length > maxProjectBytes ? version : found.digest
        known.ofProjects.set(project, own)
        return [project, { version: own, texts: found.texts }]
      }),
    )
  }

  return {
    /** Reads the items of a project. @throws {StoreError} */
    async read(project: string): Promise<ProjectItems> {
      return (await find([project], true)).get(project) as ProjectItems // it was asked for
    },

    /** Reads the versions of projects. @throws {StoreError} */
    async versions(projects: readonly string[]): Promise<ReadonlyMap<string, string>> {
      const { version } = await states.all()
      const ofProjects = known.version === version ? known.ofProjects : new Map<string, string>()
      if (projects.every((project) => ofProjects.has(project))) return ofProjects
      const found = await find(projects, false)
      return new Map([...found].map(([project, items]) => [project, items.version]))
    },
  }
}

/** The items of a project that a search has found so far. */
class FoundSoFar {
  length = 0
  /** `undefined` once they are not kept. */
  texts: Buffer[] | undefined
  /** Of the texts, one character for each byte. */
  digests: string[] = []

  constructor(keepsTexts: boolean) {
    this.texts = keepsTexts ? [] : undefined
  }

  /**
   * Returns the same digest for the same items in any order. The digests are sorted, because a sum of them can be kept
   * the same on purpose: some of 170 items can be replaced so that the exclusive or of all digests does not change.
   */
  get digest(): string {
    return hash('sha1', Buffer.from(this.digests.sort().join(''), 'latin1'), 'base64url')
  }

  /** @returns the number of bytes that are kept. */
  add(text: Buffer, hasRoom: boolean): number {
    this.length += text.length
    if (this.length > maxProjectBytes) this.digests = []
    if (this.length > maxProjectBytes || !hasRoom) this.texts = undefined
    if (this.texts === undefined) return 0
    this.texts.push(Buffer.from(text)) // a copy: a part would hold all of its bucket
    return text.length
  }
}
