/**
 * Reads that wait for a change (`Prefer: wait`, RFC 7240 §4.3). A wait is a preference: where there cannot be
 * one, or no longer, the request is answered as it would be without.
 *
 * @module
 */

import type { HeaderList } from '../interface/headers.js'
import type { ItemId, ItemStore } from '../store/item-store.js'
import {
  type Conditions,
  type EntityTag,
  isMatch,
  isNoneMatch,
  preconditionFailed,
} from './conditions.js'
import type { Exchange } from './exchange.js'

/** Longest time that a read waits, in seconds: proxies give up soon after. */
const maxWait = 60

/** Number of reads that may wait at a time; each takes about 18 KB with its connection (bench/RESULTS.md). */
const maxWaiting = 20_000

/** Preferences before another one, separated by commas, which strings in quotes may contain (RFC 7240 §2). */
const others = /^(?:(?:[^",]|"(?:[^"\\]|\\.)*")*,)*?/
const waitPreference = new RegExp(
  `${others.source}[ \\t]*wait[ \\t]*=[ \\t]*(?:(\\d+)|"(\\d+)")[ \\t]*(?:[,;]|$)`,
  'i',
)

/** Something that is read, with its tag. */
export interface Tagged {
  readonly tag: EntityTag
}

/** What a conditional read came to. */
export interface ReadResult<State extends Tagged> {
  /** As it was read last. */
  readonly tag: EntityTag
  /** `undefined` if the client has it already: a read that waits does not hold it meanwhile. */
  readonly modified: State | undefined
  /** `Preference-Applied`, if the read was ready to wait. */
  readonly applied: HeaderList
}

export interface WaitingReads {
  /** How many there are. */
  readonly count: number
  /**
   * Reads what the client may have already; waits for another state as long as it does and prefers to.
   * @param id `undefined` for the list.
   * @throws {ApiError} `PRECONDITION_FAILED`, and what `read` throws.
   */
  untilModified<State extends Tagged>(
    exchange: Exchange,
    conditions: Conditions,
    id: ItemId | undefined,
    read: () => Promise<State>,
  ): Promise<ReadResult<State>>
}

/** @param stopping once aborted, nothing waits any more. */
export function createWaitingReads(store: ItemStore, stopping: AbortSignal): WaitingReads {
  const waits = new Set<Wait>()
  stopping.addEventListener('abort', () => {
    for (const wait of waits) wait.finish()
  })

  return {
    get count() {
      return waits.size
    },

    async untilModified(exchange, conditions, id, read) {
      const result = async (applied: HeaderList) => {
        const state = await read()
        const { tag } = state
        if (!isMatch(conditions, tag)) throw preconditionFailed(tag)
        return { tag, modified: isNoneMatch(conditions, tag) ? state : undefined, applied }
      }
      const first = await result([])
      const seconds = preferredWait(exchange.request.headers.prefer)
      const mayWait = seconds > 0 && waits.size < maxWaiting && !stopping.aborted
      if (first.modified !== undefined || !mayWait) return first

      const wait = new Wait(exchange, seconds)
      const unwatch = store.watch(id, () => wait.notify())
      waits.add(wait)
      try {
        for (;;) {
          // At first again, for what has changed before it was watched.
          const next = await result(['Preference-Applied', `wait=${seconds}`])
          if (next.modified !== undefined || !(await wait.change())) return next
        }
      } finally {
        unwatch()
        waits.delete(wait)
        wait.end()
      }
    },
  }
}

/** One request that waits, until the time is over, the token expires, the client goes away or the service stops. */
class Wait {
  readonly #exchange: Exchange
  readonly #begun = performance.now()
  readonly #timer: NodeJS.Timeout
  #hasChanged = false
  #isOver = false
  #wake = () => {}

  constructor(exchange: Exchange, seconds: number) {
    const { request, response, token } = exchange
    this.#exchange = exchange
    const untilExpiry = (token?.exp ?? Number.POSITIVE_INFINITY) * 1000 - Date.now()
    this.#timer = setTimeout(this.finish, Math.min(seconds * 1000, untilExpiry))
    response.once('close', this.finish)
    request.resume() // the rest of a body would be late
    // Whoever goes away ends the connection. A client that only has nothing more to send is answered at once.
    if (request.socket.readableEnded) this.finish()
    else request.socket.once('end', this.finish)
  }

  /** Something may have changed. */
  notify(): void {
    this.#hasChanged = true
    this.#wake()
  }

  readonly finish = (): void => {
    this.#isOver = true
    this.#wake()
  }

  /** Resolves to whether something may have changed since the last call; if not, the wait is over. */
  async change(): Promise<boolean> {
    if (!this.#hasChanged && !this.#isOver) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    const isChange = this.#hasChanged && !this.#isOver
    this.#hasChanged = false
    return isChange
  }

  end(): void {
    const { request, response } = this.#exchange
    clearTimeout(this.#timer)
    response.off('close', this.finish)
    request.socket.off('end', this.finish)
    // The time counts neither in the log nor in the metrics: nothing was slow.
    this.#exchange.startedAt += performance.now() - this.#begun
  }
}

/** In whole seconds; 0 for none. The first of several counts (RFC 7240 §2). */
function preferredWait(prefer: string | string[] | undefined): number {
  const [, bare, quoted] = waitPreference.exec(prefer?.toString() ?? '') ?? []
  return Math.min(Number(bare ?? quoted ?? 0), maxWait)
}
