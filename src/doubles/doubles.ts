/** Test doubles: latency, failures, repeatable ids, and a record of requests. @module */

import { randomInt } from 'node:crypto'
import { StringDecoder } from 'node:string_decoder'
import timers from 'node:timers'
import { UsageError } from '../config/usage-error.js'
import { answerError, answerJson } from '../http/answer.js'
import type { ReadBody } from '../http/body.js'
import type { Exchange, Handler } from '../http/exchange.js'
import { untilMaySend } from '../http/pacing.js'
import { queryOf } from '../http/parameters.js'
import { isPreflight } from '../http/preflight.js'
import { withoutTrailingSlash } from '../http/router.js'
import { ApiError, errorBody } from '../interface/errors.js'
import { type ItemId, type NewId, namedItemId } from '../item/id.js'
import type { ArrivingBody } from '../item/item-request.js'
import type { Slices } from '../item/slices.js'
import type { Delay, Failure, Failures, RecordedRequest, RequestScope } from './options.js'
import { checkedDelay, checkedFailures, type ScopeTest, scopeTest } from './options.js'

interface DoublesOptions {
  readonly delay?: number | Delay | undefined
  readonly failures?: Failures | undefined
  readonly ids?: string | undefined
  readonly recordBodies?: boolean | undefined
}

export type Doubles = ReturnType<typeof createDoubles>

const { setTimeout, clearTimeout } = timers // kept, because test runners replace them

/** Path prefix of the requests that control the store for tests. They aren't recorded. */
export const controlPrefix = '/control/'
const maxKept = 100 // failures or delays, each of which is compared with every request
const maxRecorded = 10_000 // low, because a development service may run for weeks
const maxRecordedLength = 64 * 1024 * 1024 // characters
const seedNamespace = '0d5b3c1e-7f2a-4c58-9e64-1b8a2f7d9c03'

/** @throws {UsageError} if an option is invalid. */
export function createDoubles({ delay, failures, ids, recordBodies = false }: DoublesOptions) {
  const named = new Map<string, ItemId>()
  let idCount = 0
  let armed: { isMeant: ScopeTest; next: () => Failure | undefined; isOver: () => boolean }[] = []
  const delays: { isMeant: ScopeTest; range: Delay }[] = []
  const delayed = new Set<() => void>() // each ends the delay of a request
  let recorded: RecordedRequest[] = []
  let recordedLength = 0
  const bodies = new WeakMap<Exchange, { readonly decoder: StringDecoder; text: string }>()
  let resets = 0
  let isStopping = false

  function record(exchange: Exchange, status: number | undefined): void {
    const { request, path, sessionId } = exchange
    const body = bodies.get(exchange)?.text
    const query = queryOf(request)
    recorded.push({ method: request.method ?? '', path, query, status, sessionId, body })
    recordedLength += sizeOf(recorded.at(-1))
    while (recorded.length > maxRecorded || recordedLength > maxRecordedLength) {
      recordedLength -= sizeOf(recorded.shift())
    }
  }

  function fail(failures: Failures, scope?: RequestScope): void {
    const given = checkedFailures(failures)
    const rest: Failure[] | undefined = Array.isArray(given) ? [...given] : undefined
    const next = () => (rest ? rest.shift() : randomFailure(given))
    armed = armed.filter(({ isOver }) => !isOver())
    keep(armed, { isMeant: scopeTest(scope), next, isOver: () => rest?.length === 0 }, 'failures')
  }

  function setDelay(delay: number | Delay, scope?: RequestScope): void {
    keep(delays, { isMeant: scopeTest(scope), range: checkedDelay(delay) }, 'delays')
  }

  function startOver(): void {
    resets += 1
    named.clear()
    idCount = 0
    armed = []
    delays.length = 0
    if (failures !== undefined) fail(failures)
    if (delay !== undefined) setDelay(delay)
    recorded = []
    recordedLength = 0
    for (const end of delayed) end()
  }

  function waitFor({ min, max }: Delay): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer)
        delayed.delete(end)
        resolve()
      }
      const timer = setTimeout(end, randomInt(min, max + 1))
      delayed.add(end)
    })
  }

  /** Returns a function that returns `true` until the next reset. */
  function sinceNow(): () => boolean {
    const before = resets
    return () => before === resets
  }

  /** Creates ids from the seed `ids` and a counter. A repeated `Idempotency-Key` gets the same id. */
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

    withFaults: (handle: Handler, readBody: ReadBody): Handler =>
      async function failOrHandle(exchange) {
        const { method = '' } = exchange.request
        const path = withoutTrailingSlash(exchange.path)
        let failure: Failure | undefined
        for (const { isMeant, next } of armed) {
          failure ??= isMeant(method, path) ? next() : undefined
        }
        if (failure !== undefined) {
          // Reads the body for the record. Even if it's invalid, the injected failure is what the client gets.
          if (recordBodies)
            await Promise.resolve()
              .then(() => readBody(exchange, wholeBody))
              .catch(() => undefined)
          exchange.requireNoReset?.()
          if (failure !== 'cut') return answerFailure(exchange, failure)
          record(exchange, undefined)
          exchange.request.socket.destroy()
          return
        }
        const range = delays.findLast(({ isMeant }) => isMeant(method, path))?.range
        if (range !== undefined && range.max > 0 && !isStopping) {
          await waitFor(range)
          await untilMaySend() // a reset ends all delays at once
          exchange.requireNoReset?.()
        }
        await handle(exchange)
      },

    /** Call it when a request arrives. Records the request once it's answered, and makes it fail after a reset. */
    arrived(exchange: Exchange): void {
      const isCurrent = sinceNow()
      exchange.requireNoReset = () => {
        if (!isCurrent()) throw new ApiError('STORE_UNAVAILABLE', 'The store was reset')
      }
      if (isPreflight(exchange.request) || exchange.path.startsWith(controlPrefix)) return
      const { response } = exchange
      response.once('finish', () => {
        if (isCurrent()) record(exchange, response.statusCode)
      })
    },

    bodyReceived(exchange: Exchange, part: Buffer): void {
      if (!recordBodies || part.length === 0 || exchange.path.startsWith(controlPrefix)) return
      const body = bodies.get(exchange) ?? { decoder: new StringDecoder(), text: '' }
      body.text += body.decoder.write(part)
      bodies.set(exchange, body)
    },

    sinceNow,
    fail,
    delay: setDelay,

    requests: () => [...recorded],

    reset: startOver,

    /** Ends all delays, so that the delayed requests are handled. */
    stop(): void {
      isStopping = true
      for (const end of delayed) end()
    },
  }
}

function keep<T>(kept: T[], one: T, what: string): void {
  if (kept.length < maxKept) kept.push(one)
  else throw new UsageError(`${maxKept} ${what} are set already; they end with the next reset`)
}

function sizeOf({ path = '', query = '', body = '' }: Partial<RecordedRequest> = {}): number {
  return path.length + query.length + body.length
}

/** Waits for the whole body. Its bytes are freed after the read. */
export function* wholeBody(body: ArrivingBody): Slices<Buffer> {
  while (!body.isComplete) yield 'waiting'
  return body.bytes.subarray(0, body.length)
}

/** Sends an injected failure, which the log doesn't count as the service's own. */
function answerFailure(exchange: Exchange, status: Exclude<Failure, 'cut'>): void {
  const message = 'This failure was injected for a test'
  if (status === 429) {
    // A 429 has no error code, because only proxies send it.
    const body = errorBody({ message }, exchange.sessionId)
    return void answerJson(exchange, status, body, ['Retry-After', '1']) // in seconds
  }
  const code = status === 500 ? 'INTERNAL_ERROR' : 'SERVICE_UNAVAILABLE'
  answerError(exchange, new ApiError(code, message), () => undefined)
}

function randomFailure(rates: Failures): Failure | undefined {
  let at = Math.random()
  for (const [name, rate] of Object.entries(rates)) {
    at -= rate
    if (at < 0) return (name === 'cut' ? name : Number(name)) as Failure // every key of `rates` is a failure
  }
  return undefined
}
