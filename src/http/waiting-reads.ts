/** Reads that wait for a change (`Prefer: wait`, RFC 7240 §4.3). @module */

import type { HeaderList } from '../interface/paths.js'
import type { Limit } from '../memory/shares.js'
import type { Awaitable, ItemStore, Watched } from '../store/item-store.js'
import { type Conditions, isMatch, isNoneMatch, preconditionFailed } from './conditions.js'
import type { Exchange } from './exchange.js'
import { preferredWait } from './parameters.js'
import { type Answer, type Tagged, Wait, WaitGroup } from './wait.js'

const maxWaiting = 20_000 // each takes 13 KB with its connection (bench/RESULTS.md)
const maxReading = 16 // of each kind; few long replies of Redis should be in flight

export type WaitingReads = ReturnType<typeof createWaitingReads>

export function createWaitingReads(store: ItemStore) {
  const waits = new Set<{ finish(): void }>()
  let isStopping = false

  function of<Key extends string | undefined, State extends Tagged>(
    read: (key: Key) => Awaitable<State | undefined>,
    watchedBy: (key: Key) => Watched,
  ) {
    const groups = new Map<Key, WaitGroup<State>>()
    /** Groups to read. Items and lists each have their own set, because slow lists must not delay items. */
    const due = new Set<WaitGroup<State>>()
    let reading = 0

    async function updateDue(): Promise<void> {
      reading += 1
      for (const group of due) {
        due.delete(group)
        await group.update()
      }
      reading -= 1
    }

    function groupOf(key: Key): WaitGroup<State> {
      const known = groups.get(key)
      if (known !== undefined) return known
      const group = new WaitGroup({
        read: () => read(key),
        schedule() {
          due.add(group)
          if (reading < maxReading) void updateDue()
        },
        onEmpty() {
          unwatch()
          groups.delete(key)
          due.delete(group)
        },
      })
      groups.set(key, group)
      const unwatch = store.watch(watchedBy(key), () => group.changed())
      return group
    }

    return async function readUntilModified(
      exchange: Exchange,
      conditions: Conditions,
      key: Key,
      seconds = conditions.ifNoneMatch === undefined ? 0 : preferredWait(exchange),
    ) {
      if (seconds === 0 || waits.size >= maxWaiting || isStopping) {
        const state = await read(key)
        return state && resultOf({ tag: state.tag, state }, conditions, [])
      }
      const wait = new Wait<State>({ exchange, conditions, seconds, isStopping: () => isStopping })
      waits.add(wait)
      groupOf(key).join(wait)
      try {
        const answer = await wait.answered
        return answer && resultOf(answer, conditions, wait.preferenceHeaders)
      } finally {
        waits.delete(wait)
      }
    }
  }

  const limit: Limit = { limit: 'waiting reads', maximum: maxWaiting, value: () => waits.size }
  /** Answers all waiting reads. Further ones do not wait. */
  const stop = () => {
    isStopping = true
    for (const wait of waits) wait.finish()
  }
  return { limit, of, stop }
}

export type ReadResult = ReturnType<typeof resultOf>

function resultOf<State extends Tagged>(
  { tag, state }: Answer<State>,
  conditions: Conditions,
  preferenceHeaders: HeaderList,
) {
  if (!isMatch(conditions, tag)) throw preconditionFailed(tag)
  return { tag, modified: isNoneMatch(conditions, tag) ? state : undefined, preferenceHeaders }
}
