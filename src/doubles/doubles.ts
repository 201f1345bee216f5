/** Test doubles: latency, failures, repeatable ids, and a record of requests. @module */

import { randomInt } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { answerError, answerJson } from '../http/answer.js'
import type { Exchange, Handler } from '../http/exchange.js'
import { ApiError } from '../interface/errors.js'
import { type ItemId, type NewId, namedItemId } from '../item/id.js'
import type { Delay, Failure, FailureScope, Failures, RecordedRequest } from './options.js'

interface DoublesOptions {
  /** Latency of each request for items. */
  readonly delay?: Delay | undefined
  /** Failures that are armed at the start and after each reset. */
  readonly failures?: Failures | undefined
  /** Any text: the ids of new items follow from it. */
  readonly ids?: string | undefined
}

export type Doubles = ReturnType<typeof createDoubles>

/** Maximum number of recorded requests: a service for development may run for weeks. */
const maxRecorded = 10_000

export function createDoubles({ delay, failures, ids }: DoublesOptions) {
  const seeded = ids === undefined ? undefined : seededIds(ids)
  const queue = createFailureQueue((exchange) => record(exchange, undefined))
  let recorded: RecordedRequest[] = []
  let resets = 0

  function record({ request, path, sessionId }: Exchange, status: number | undefined): void {
    recorded.push({ method: request.method ?? '', path, status, sessionId })
    if (recorded.length > maxRecorded) recorded.shift()
  }

  function startOver(): void {
    seeded?.startOver()
    queue.clear()
    if (failures !== undefined) queue.arm(failures)
    recorded = []
  }

  startOver()
  return {
    /** Makes the ids of new items; `undefined` for those of the service. */
    newId: seeded?.newId,

    /**
     * Makes the handler of an item endpoint slow, and makes it fail.
     * @param stopping once aborted, nothing is delayed any more, and pending delays end.
     */
    wrap(handle: Handler, stopping: AbortSignal): Handler {
      if (delay === undefined) return queue.failing(handle)
      return queue.failing(async function handleLater(exchange) {
        const before = resets
        const time = randomInt(delay.min, delay.max + 1)
        await wait(time, undefined, { signal: stopping }).catch(() => undefined)
        // A create that went on would take an id that belongs to the next test.
        if (before !== resets) throw new ApiError('STORE_UNAVAILABLE', 'The store was reset')
        await handle(exchange)
      })
    },

    /** Records a request; called when its response has been sent. */
    observe: (exchange: Exchange): void => record(exchange, exchange.response.statusCode),

    /** Arms failures. */
    fail: queue.arm,

    /** The latest requests since the last reset, up to 10,000, in the order in which they ended. */
    requests: (): RecordedRequest[] => [...recorded],

    /** Starts over: ids, failures and the record are as at the start. Requests that are delayed now fail. */
    reset(): void {
      resets += 1
      startOver()
    },
  }
}

/** Namespace of the ids that follow from a text: a random UUID, chosen once. */
const seedNamespace = '0d5b3c1e-7f2a-4c58-9e64-1b8a2f7d9c03'

/** Returns a maker of ids: the same text gives the same ids in the same order, and the same name the same id. */
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

interface Armed extends FailureScope {
  /** Returns how the next request fails, if it does. */
  readonly next: () => Failure | undefined
}

const detail = 'This failure was asked for'
const soon = ['Retry-After', '1'] // in seconds

/**
 * Makes requests fail: the first armed failure that applies to a request.
 * @param onCut called with each exchange whose connection is closed without a response.
 */
function createFailureQueue(onCut: (exchange: Exchange) => void) {
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
    arm(failures: Failures, scope: FailureScope = {}): void {
      const next = Array.isArray(failures) ? inTurn(failures) : atRandom(failures)
      armed.push({ ...scope, next })
    },

    clear(): void {
      armed.length = 0
    },

    failing: (handle: Handler): Handler =>
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
            // A proxy would send a 429, but never this service, which has no error code for it.
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
