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
  readonly failures?: Failures | undefined
  readonly ids?: string | undefined
}

export type Doubles = ReturnType<typeof createDoubles>

/** Maximum number of recorded requests, because a development service may run for weeks. */
const maxRecorded = 10_000
const seedNamespace = '0d5b3c1e-7f2a-4c58-9e64-1b8a2f7d9c03'

export function createDoubles({ delay, failures, ids }: DoublesOptions) {
  const named = new Map<string, ItemId>()
  let idCount = 0
  const armed: (FailureScope & { readonly next: () => Failure | undefined })[] = []
  let recorded: RecordedRequest[] = []
  let resets = 0

  function record({ request, path, sessionId }: Exchange, status: number | undefined): void {
    recorded.push({ method: request.method ?? '', path, status, sessionId })
    if (recorded.length > maxRecorded) recorded.shift()
  }

  function fail(failures: Failures, scope: FailureScope = {}): void {
    armed.push({ ...scope, next: Array.isArray(failures) ? inOrder(failures) : atRandom(failures) })
  }

  function startOver(): void {
    resets += 1
    named.clear()
    idCount = 0
    armed.length = 0
    if (failures !== undefined) fail(failures)
    recorded = []
  }

  function failureOf(exchange: Exchange): Failure | undefined {
    for (const { method = exchange.request.method, path = exchange.path, next } of armed) {
      if (method !== exchange.request.method) continue
      // With a global pattern, `test` would continue at the end of the previous match, but `search` does not.
      const isMeant =
        typeof path === 'string' ? path === exchange.path : exchange.path.search(path) >= 0
      const failure = isMeant ? next() : undefined
      if (failure !== undefined) return failure
    }
    return undefined
  }

  /** Creates ids from the seed `ids` and a counter. A repeated name (of an `Idempotency-Key`) gets the same id. */
  const newId: NewId = (name) => {
    const known = name === undefined ? undefined : named.get(name)
    if (known !== undefined) return known
    idCount += 1
    const id = namedItemId(seedNamespace, `${idCount} ${ids}`)
    if (name !== undefined) named.set(name, id)
    return id
  }

  startOver()
  return {
    newId: ids === undefined ? undefined : newId,

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
          // A create that was delayed during a reset must not take an id from the next test.
          if (before !== resets) throw new ApiError('STORE_UNAVAILABLE', 'The store was reset')
          // If the response is already closed, the request is not handled, as nothing would free its body's memory.
          if (exchange.response.destroyed) return
        }
        await handle(exchange)
      },

    observe: (exchange: Exchange): void => record(exchange, exchange.response.statusCode),

    fail,

    requests: (): RecordedRequest[] => [...recorded],

    reset: startOver,
  }
}

/** Sends an injected failure, which is not logged as a failure of the service. */
function answerFailure(exchange: Exchange, status: Exclude<Failure, 'cut'>): void {
  const detail = 'This failure was injected for a test'
  if (status === 429) {
    // There is no error code for status 429, because only proxies send this status.
    const body = { detail: { detail, session_id: exchange.sessionId } }
    answerJson(exchange, status, body, ['Retry-After', '1']) // in seconds
    return
  }
  const code = status === 500 ? 'INTERNAL_ERROR' : 'SERVICE_UNAVAILABLE'
  answerError(exchange, new ApiError(code, detail), () => undefined)
}

function inOrder(failures: readonly Failure[]): () => Failure | undefined {
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
