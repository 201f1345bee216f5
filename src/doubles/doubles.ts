/** Test doubles: latency, failures, repeatable ids, and a record of requests. @module */

import { randomInt } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { answerError, answerJson } from '../http/answer.js'
import type { Exchange, Handler } from '../http/exchange.js'
import { ApiError } from '../interface/errors.js'
import { type ItemId, type NewId, namedItemId } from '../item/id.js'
import type { Delay, Failure, FailureScope, Failures, RecordedRequest } from './options.js'

interface DoublesOptions {
  readonly delay?: Delay | undefined
  /** Failures that apply from the start, and apply again after each reset. */
  readonly failures?: Failures | undefined
  /** Text from which the ids of new items are derived. */
  readonly ids?: string | undefined
}

export type Doubles = ReturnType<typeof createDoubles>

/** Maximum number of recorded requests. A service for development may run for weeks, so there has to be a limit. */
const maxRecorded = 10_000

export function createDoubles({ delay, failures, ids }: DoublesOptions) {
  const seeded = ids === undefined ? undefined : seededIds(ids)
  const armed: Armed[] = []
  let recorded: RecordedRequest[] = []
  let resets = 0

  function record({ request, path, sessionId }: Exchange, status: number | undefined): void {
    recorded.push({ method: request.method ?? '', path, status, sessionId })
    if (recorded.length > maxRecorded) recorded.shift()
  }

  function fail(failures: Failures, scope: FailureScope = {}): void {
    armed.push({ ...scope, next: Array.isArray(failures) ? inTurn(failures) : atRandom(failures) })
  }

  function startOver(): void {
    seeded?.startOver()
    armed.length = 0
    if (failures !== undefined) fail(failures)
    recorded = []
  }

  /** Returns the first failure that applies to a request; `undefined` if the request does not fail. */
  function failureOf(exchange: Exchange): Failure | undefined {
    for (const { method, path, next } of armed) {
      if (method !== undefined && method !== exchange.request.method) continue
      if (path !== undefined && !isPath(path, exchange.path)) continue
      const failure = next()
      if (failure !== undefined) return failure
    }
    return undefined
  }

  startOver()
  return {
    /** Creates the ids of new items; `undefined` if the service creates random ids. */
    newId: seeded?.newId,

    /**
     * Wraps the handler of an item endpoint, so that its requests are delayed or fail.
     * @param stopping aborted when the service stops, which ends all delays.
     */
    wrap: (handle: Handler, stopping: AbortSignal): Handler =>
      async function failOrHandle(exchange) {
        const failure = failureOf(exchange)
        if (failure === 'cut') {
          record(exchange, undefined)
          exchange.request.socket.destroy()
          return
        }
        if (failure !== undefined) return answerFailure(exchange, failure)
        if (delay !== undefined) {
          const before = resets
          const time = randomInt(delay.min, delay.max + 1)
          await wait(time, undefined, { signal: stopping }).catch(() => undefined)
          // A request that was delayed during a reset fails. If the request created an item, it would take an id from
          // the next test.
          if (before !== resets) throw new ApiError('STORE_UNAVAILABLE', 'The store was reset')
        }
        await handle(exchange)
      },

    /** Records a request. Must be called once its response has been sent. */
    observe: (exchange: Exchange): void => record(exchange, exchange.response.statusCode),

    /** Makes requests fail from now on, until the next reset. */
    fail,

    /** Returns the latest 10,000 requests since the last reset, in the order in which they ended. */
    requests: (): RecordedRequest[] => [...recorded],

    /** Restores the initial ids and failures, and forgets recorded requests. Requests that are still delayed fail. */
    reset(): void {
      resets += 1
      startOver()
    },
  }
}

/** UUID namespace of the ids that are derived from a text: a random UUID, chosen once. */
const seedNamespace = '0d5b3c1e-7f2a-4c58-9e64-1b8a2f7d9c03'

/**
 * Returns a generator of ids. An id depends only on the text and on how many ids precede it. A name always gets the
 * same id.
 */
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
  /** Returns the failure of the next request; `undefined` if the request does not fail. */
  readonly next: () => Failure | undefined
}

/** Sends the response of an injected failure, and does not log it as a failure of the service. */
function answerFailure(exchange: Exchange, status: Exclude<Failure, 'cut'>): void {
  const detail = 'This failure was injected for a test'
  if (status === 429) {
    // A proxy may send a 429. This service never sends one, and has no error code for this status.
    const body = { detail: { detail, session_id: exchange.sessionId } }
    answerJson(exchange, status, body, ['Retry-After', '1']) // Retry-After is in seconds
    return
  }
  const code = status === 500 ? 'INTERNAL_ERROR' : 'SERVICE_UNAVAILABLE'
  answerError(exchange, new ApiError(code, detail), () => undefined)
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
      if (at < 0) return (name === 'cut' ? name : Number(name)) as Failure // every key of `rates` is a failure
    }
    return undefined
  }
}
