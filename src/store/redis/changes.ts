/** While there are watchers, polls for changes by other services, and calls the watchers. @module */

import { setTimeout as delay } from 'node:timers/promises'
import type { ItemId } from '../../item/id.js'
import type { Watched } from '../item-store.js'
import type { Watchers } from '../watchers.js'
import { projectField } from './bucket.js'
import { type BucketStates, fieldBytes, type Read, timeOf } from './bucket-states.js'
import { keyCommand, listIn, type Servers } from './client.js'

const interval = 250 // ms between two polls
const askedAtOnce = 64 // projects per command, in each bucket that has changed

interface ChangesOptions {
  readonly keys: readonly string[]
  readonly keyOf: (id: ItemId) => string
  readonly serverOf: Servers['serverOf']
  readonly states: Pick<BucketStates, 'versionsOf'>
  readonly read: Read
  readonly pause?: ((signal: AbortSignal) => Promise<unknown>) | undefined
}

export function createChanges(
  watchers: Watchers,
  { keys, keyOf, serverOf, states, read, pause = untilNextPoll }: ChangesOptions,
) {
  const closing = new AbortController()
  const known = new Map<string, string>() // versions of buckets at the latest polls
  /** Servers that have not answered the latest poll yet. They don't delay polls of others. */
  const asked = new Set<object | undefined>()
  let isPolling = false

  async function poll(): Promise<void> {
    isPolling = true
    const { signal } = closing
    known.clear()
    while (!watchers.isEmpty && !signal.aborted) {
      for (const [server, some] of groupsOf(wantedKeys())) {
        if (asked.has(server)) continue
        asked.add(server)
        void compare(some)
          .catch(() => undefined) // the next poll tries again
          .then(() => asked.delete(server))
      }
      await pause(signal).catch(() => undefined)
    }
    isPolling = false
  }

  function wantedKeys(): readonly string[] {
    return watchers.hasWatchersOfMany ? keys : [...new Set([...watchers.watchedIds].map(keyOf))]
  }

  function groupsOf(wanted: readonly string[]): Map<object | undefined, readonly string[]> {
    if (serverOf === undefined) return new Map([[undefined, wanted]])
    const groups = new Map<object | undefined, string[]>()
    for (const key of wanted) {
      const server = serverOf(key)
      const group = groups.get(server)
      if (group === undefined) groups.set(server, [key])
      else group.push(key)
    }
    return groups
  }

  /** Calls the watchers of buckets that have changed since the last poll. @throws {StoreError} */
  async function compare(some: readonly string[]): Promise<void> {
    const versions = await states.versionsOf(some)
    const changed = new Map<string, string>()
    for (const [index, key] of some.entries()) {
      const version = versions[index]
      // A failover may follow and lose changes, so the bucket's watchers are called once it can be read again.
      if (version === undefined) known.delete(key)
      else if (version !== known.get(key)) changed.set(key, version)
    }
    if (changed.size === 0) return
    // Calls watchers added during the poll too, because their callers may have read an older state of a cluster.
    const projects = await projectsIn(changed)
    for (const [key, version] of changed) known.set(key, version)
    const ids = [...watchers.watchedIds].filter((id) => changed.has(keyOf(id)))
    watchers.call(ids, projects)
  }

  /** Returns the watched projects that have changed in these buckets since the last poll. */
  async function projectsIn(changed: ReadonlyMap<string, string>): Promise<Iterable<string>> {
    const projects = watchers.watchedProjects
    const found = new Set<string>()
    const buckets = [...changed].map(([key, version]) => {
      return { key, version, since: timeOf(known.get(key)) }
    })
    // If a bucket's version was unknown at the last poll, or newer than now, changes to any project may have been lost.
    if (!buckets.every(({ version, since }) => since < timeOf(version))) return projects
    for (let start = 0; start < projects.length; start += askedAtOnce) {
      const some = projects.slice(start, start + askedAtOnce)
      const names = some.map(projectField)
      const replies = await read(
        buckets.map(({ key }) => keyCommand(['HMGET', key, ...names], names.length * fieldBytes)),
      )
      for (const [index, { since }] of buckets.entries()) {
        const fields = listIn(replies[index]?.value)
        for (const [place, project] of some.entries()) {
          if (timeOf(String(fields[place]).split(' ')[1]) > since) found.add(project)
        }
      }
    }
    return found
  }

  return {
    watch(watched: Watched, callback: () => void): () => void {
      const unwatch = watchers.add(watched, callback)
      if (!isPolling) void poll()
      return unwatch
    },

    close: () => closing.abort(),
  }
}

function untilNextPoll(signal: AbortSignal): Promise<unknown> {
  return delay(interval, undefined, { signal, ref: false })
}
