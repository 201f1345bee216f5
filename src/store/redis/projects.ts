/** Computes the versions of projects for the `ETag` of their lists. A search reads the items in all buckets. @module */

import { hash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { projectOf } from '../../item/item.js'
import type { AllBuckets, BucketStates } from './bucket-states.js'
import { itemsIn, type ReadTexts } from './list.js'

/** Maximum total size of a project's items to hash, in bytes. The version of a larger project depends on all items. */
const maxProjectBytes = 1024 * 1024
/** Maximum time for which a search blocks the event loop, in milliseconds. */
const turnTime = 1
const maxVersions = 10_000

/** @param watched returns the projects to which requests are waiting for changes. Each search includes them. */
export function createProjectReads(
  states: BucketStates,
  readTexts: ReadTexts,
  watched: () => Iterable<string>,
) {
  let next: { projects: Set<string>; found: ReturnType<typeof search> } | undefined
  let latest: Promise<unknown> = Promise.resolve()
  /** Versions of projects, valid until the version of any bucket changes. */
  let known = { version: '', versions: new Map<string, string>() }

  async function search(projects: ReadonlySet<string>) {
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
    for await (const buckets of itemsIn(found.size > 0 ? all : [], readTexts)) {
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
      // The digests are not XORed, because a client with about 170 items could choose changes that cancel out.
      const sorted = Buffer.from(digests.sort().join(''), 'latin1')
      versions.set(project, length > maxProjectBytes ? version : hash('sha1', sorted, 'base64url'))
    }
    return { states: all, versions }
  }

  /** Returns all buckets, and the version of the project's list or of the list of all items. @throws {StoreError} */
  return async function bucketsFor(project?: string): Promise<AllBuckets> {
    if (project === undefined) return await states.all()
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
