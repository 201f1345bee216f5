/**
 * Computes the versions of projects, from which the `ETag` of a project's list derives.
 * A search reads all items, because the items of a project are spread over all buckets. @module
 */

import { hash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { projectOf } from '../../item/item.js'
import { type AllBuckets, type BucketState, type BucketStates, hasItems } from './bucket-states.js'
import { itemsIn, type ReadTexts } from './list.js'

/** Maximum length of a project's texts, in bytes. If longer, the version changes with any item. */
const maxProjectBytes = 1024 * 1024
/** Maximum time for which a search blocks the event loop, in milliseconds. */
const turnTime = 1
const maxVersions = 10_000

interface SearchResult {
  readonly states: readonly BucketState[]
  readonly versions: ReadonlyMap<string, string>
}

/** @param watched returns the projects that each search includes. The result may throw a `StoreError`. */
export function createProjectReads(
  states: BucketStates,
  readTexts: ReadTexts,
  watched: () => Iterable<string>,
): (project: string) => Promise<AllBuckets> {
  let next: { readonly projects: Set<string>; readonly found: Promise<SearchResult> } | undefined
  let latest: Promise<unknown> = Promise.resolve()
  /** Versions of projects, valid until the version of any bucket changes. */
  let known = { version: '', versions: new Map<string, string>() }

  async function search(projects: ReadonlySet<string>): Promise<SearchResult> {
    const { states: all, version } = await states.all()
    if (known.version !== version || known.versions.size > maxVersions) {
      known = { version, versions: new Map() }
    }
    const { versions } = known
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
          const own = found.get(projectOf(bytes, start) ?? '') // no project has an empty name
          const text = bytes.subarray(start, end)
          start = end + 1
          if (own === undefined) continue
          own.length += text.length
          if (own.length > maxProjectBytes) own.digests = []
          else own.digests.push(hash('sha1', text, 'binary')) // hashing takes about 1 ms per MiB
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
    return { states: all, version: versions.get(project) as string } // the search included the project
  }
}

/** Digests are sorted. With XOR, a client with about 170 items could choose changes that cancel out. */
function digestOf(digests: string[]): string {
  return hash('sha1', Buffer.from(digests.sort().join(''), 'latin1'), 'base64url')
}
