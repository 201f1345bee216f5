/**
 * The versions of projects. The items of a project are in all buckets, among others, so that the versions of buckets
 * say nothing about one project: all items are read, once for everyone who asks at that time, and the texts of the
 * project are hashed.
 *
 * @module
 */

import { hash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { projectOf } from '../../item/item.js'
import { type AllBuckets, type BucketState, type BucketStates, hasItems } from './bucket-states.js'
import { itemsIn, type ReadTexts } from './list.js'

/** Maximum length of a project's texts, in bytes, for which its version depends on its own items alone. */
const maxProjectBytes = 1024 * 1024
/** Time for which items are compared in one turn of the event loop, in milliseconds. */
const turnTime = 1
/** Maximum number of versions that are remembered. */
const maxVersions = 10_000

/** The states of all buckets, and versions of projects that belong to them. */
interface Found {
  readonly states: readonly BucketState[]
  readonly versions: ReadonlyMap<string, string>
}

/**
 * Returns a function that reads the states of all buckets with the version of a project, and throws a `StoreError` if
 * that fails.
 * @param watched returns the projects whose versions are found along with others, because they will be asked for.
 */
export function createProjectReads(
  states: BucketStates,
  readTexts: ReadTexts,
  watched: () => Iterable<string>,
): (project: string) => Promise<AllBuckets> {
  /** The search that begins after the present one. */
  let next: { readonly projects: Set<string>; readonly found: Promise<Found> } | undefined
  let latest: Promise<unknown> = Promise.resolve()
  /** Versions of projects that belong to one version of all buckets. */
  let known = { version: '', versions: new Map<string, string>() }

  async function search(projects: ReadonlySet<string>): Promise<Found> {
    const { states: all, version } = await states.all()
    if (known.version !== version || known.versions.size > maxVersions) {
      known = { version, versions: new Map() }
    }
    const { versions } = known
    /** For each project, the length of its texts so far, and their digests. */
    const found = new Map<string, { length: number; digests: string[] }>()
    for (const project of projects) {
      if (!versions.has(project)) found.set(project, { length: 0, digests: [] })
    }
    let begun = performance.now()
    const items = found.size > 0 ? itemsIn(all.filter(hasItems), readTexts) : []
    for await (const buckets of items) {
      for (const { bytes, ends } of buckets) {
        let start = 1
        for (const end of ends) {
          const own = found.get(projectOf(bytes, start) ?? '') // no project is empty
          const text = bytes.subarray(start, end)
          start = end + 1
          if (own === undefined) continue
          own.length += text.length
          if (own.length > maxProjectBytes) own.digests = []
          else own.digests.push(hash('sha1', text, 'binary')) // of at most 1 MiB, in about a millisecond
        }
        if (performance.now() - begun < turnTime) continue
        await nextTurn()
        begun = performance.now()
      }
    }
    for (const [project, { length, digests }] of found) {
      versions.set(project, length > maxProjectBytes ? version : digestOf(digests))
    }
    return { states: all, versions }
  }

  return async function readWithProject(project) {
    if (next === undefined) {
      const projects = new Set<string>()
      const found = latest.then(() => {
        next = undefined
        return search(new Set([...projects, ...watched()]))
      })
      latest = found.catch(() => undefined)
      next = { projects, found }
    }
    next.projects.add(project)
    const { states: all, versions } = await next.found
    return { states: all, version: versions.get(project) as string } // it was asked for
  }
}

/**
 * Returns the same digest for the same items in any order. The digests are sorted, because a sum of them can be kept
 * the same on purpose: some of 170 items can be replaced so that the exclusive or of all digests does not change.
 */
function digestOf(digests: string[]): string {
  return hash('sha1', Buffer.from(digests.sort().join(''), 'latin1'), 'base64url')
}
