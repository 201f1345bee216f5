/**
 * What tests switch on: latency, failures, ids that repeat, and a record of requests. The service is wrapped in
 * one place, and without doubles it has no part of this.
 *
 * @module
 */

import { randomInt } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { answerError, answerJson } from '../http/answer.js'
import type { Exchange, Handler } from '../http/exchange.js'
import { ApiError } from '../interface/errors.js'
import { type NewId, namedItemId } from '../item/id.js'
import type { ItemId } from '../item/item.js'
import { type ItemStore, StoreError } from '../store/item-store.js'
import type { Delay, Failure, FailureScope, Failures, RecordedRequest } from './options.js'

interface DoublesOptions {
  /** Latency of each operation on items. */
  readonly delay?: Delay | undefined
  /** Failures that are armed at the start and after each reset. */
  readonly failures?: Failures | undefined
  /** Any text: the ids of new items follow from it. */
  readonly ids?: string | undefined
}

export interface Doubles {
  /** Makes the ids of new items; `undefined` for those of the service. */
  readonly newId: NewId | undefined
  /** Wraps the handler of an item endpoint. */
  failing(handle: Handler): Handler
  /**
   * Wraps the store that the handlers use.
   * @param stopping once aborted, nothing is delayed any more, and pending delays end.
   */
  slowed(store: ItemStore, stopping: AbortSignal): ItemStore
  /** Records a request; called when its response has been sent. */
  observe(exchange: Exchange): void
  /** Arms failures. */
  fail(failures: Failures, scope?: FailureScope): void
  /** The latest requests since the last reset, up to 10,000, in the order in which they ended. */
  requests(): RecordedRequest[]
  /** Starts over: ids, failures and the record are as at the start. Operations that are delayed now fail. */
  reset(): void
}

/** Maximum number of recorded requests: a service for development may run for weeks. */
const maxRecorded = 10_000

export function createDoubles({ delay, failures, ids }: DoublesOptions): Doubles {
  const seeded = ids === undefined ? undefined : seededIds(ids)
  const queue = createFailureQueue((exchange) => record(exchange, undefined))
  let recorded: RecordedRequest[] = []
  let resets = 0

  function record({ request, path, sessionId }: Exchange, status: number | undefined): void {
    if (recorded.length >= 2 * maxRecorded) recorded = recorded.slice(-maxRecorded)
    recorded.push({ method: request.method ?? '', path, status, sessionId })
  }

  function startOver(): void {
    seeded?.startOver()
    queue.clear()
    if (failures !== undefined) queue.arm(failures)
    recorded = []
  }

  startOver()
  return {
    newId: seeded?.newId,
    failing: queue.failing,
    fail: queue.arm,
    observe: (exchange) => record(exchange, exchange.response.statusCode),
    requests: () => recorded.slice(-maxRecorded),

    slowed(store, stopping) {
      if (delay === undefined) return store
      const pause = async () => {
        const before = resets
        const time = randomInt(delay.min, delay.max + 1)
        await wait(time, undefined, { signal: stopping }).catch(() => undefined)
        // A create that went on would take an id that belongs to the next test.
        if (before !== resets) throw new StoreError('STORE_UNAVAILABLE', 'The store was reset')
      }
      return {
        ...store,
        async create(id, item) {
          await pause()
          return await store.create(id, item)
        },
        async read(id) {
          await pause()
          return await store.read(id)
        },
        async replace(id, item, expected) {
          await pause()
          return await store.replace(id, item, expected)
        },
        async delete(id, expected) {
          await pause()
          return await store.delete(id, expected)
        },
        async list(project) {
          await pause()
          return await store.list(project)
        },
      }
    },

    reset() {
      resets += 1
      startOver()
    },
  }
}

/** Namespace of the ids that follow from a text: a random UUID, chosen once. */
const seedNamespace = '0d5b3c1e-7f2a-4c58-9e64-1b8a2f7d9c03'

/** Returns what makes the same ids in the same order for the same text, and for the same name the same id. */
function seededIds(text: string): { newId: NewId; startOver: () => void } {
  let count = 0
  const named = new Map<string, ItemId>()
  return {
    newId(name) {
      const known = name === undefined ? undefined : named.get(name)
      if (known !== undefined) return known
      count += 1
      const id = namedItemId(seedNamespace, `${count} ${text}`)
      if (name !== undefined) named.set(name, id)
      return id
    },
    startOver() {
      count = 0
      named.clear()
    },
  }
}

/** Failures that are armed: the first that applies to a request makes it fail. */
interface FailureQueue {
  /** Makes requests in the scope fail from now on, besides those that are to fail already. */
  arm(failures: Failures, scope?: FailureScope): void
  /** Disarms all failures. */
  clear(): void
  /** Returns a handler that fails where a failure is armed, and otherwise does what the given one does. */
  failing(handle: Handler): Handler
}

interface Armed extends FailureScope {
  /** Returns how the next request fails, if it does. */
  readonly next: () => Failure | undefined
}

const detail = 'This failure was asked for'
const soon = ['Retry-After', '1'] // in seconds

/** @param onCut called with each exchange whose connection is closed without a response. */
function createFailureQueue(onCut: (exchange: Exchange) => void): FailureQueue {
  const armed: Armed[] = []

  function failureOf(exchange: Exchange): Failure | undefined {
    for (const { method, path, next } of armed) {
      if (method !== undefined && method !== exchange.request.method) continue
      if (path !== undefined && !isPath(path, exchange.path)) continue
      const failure = next()
      if (failure !== undefined) return failure
    }
    return undefined
  }

  return {
    arm(failures, scope = {}) {
      const next = Array.isArray(failures) ? inTurn(failures) : atRandom(failures)
      armed.push({ ...scope, next })
    },

    clear() {
      armed.length = 0
    },

    failing: (handle) =>
      function failOrHandle(exchange) {
        const failure = failureOf(exchange)
        switch (failure) {
          case undefined:
            return handle(exchange)
          case 'cut':
            onCut(exchange)
            exchange.request.socket.destroy()
            return
          case 429: {
            // A proxy would say so, but not this service: it has no code of its own.
            const body = { detail: { detail, session_id: exchange.sessionId } }
            answerJson(exchange, 429, body, soon)
            return
          }
          case 500:
            return fail(exchange, new ApiError('INTERNAL_ERROR', detail))
          case 503:
            return fail(exchange, new ApiError('SERVICE_UNAVAILABLE', detail))
        }
      },
  }
}

/** Answers with an error that is not logged as a failure of the service. */
function fail(exchange: Exchange, error: ApiError): void {
  answerError(exchange, error, () => undefined)
}

function isPath(expected: string | RegExp, path: string): boolean {
  return typeof expected === 'string' ? expected === path : expected.test(path)
}

function inTurn(failures: readonly Failure[]): () => Failure | undefined {
  const rest = [...failures]
  return () => rest.shift()
}

function atRandom(rates: Failures): () => Failure | undefined {
  const entries = Object.entries(rates)
  return () => {
    let at = Math.random()
    for (const [name, rate] of entries) {
      at -= rate
      if (at < 0) return (name === 'cut' ? name : Number(name)) as Failure // a key is one of them
    }
    return undefined
  }
}
