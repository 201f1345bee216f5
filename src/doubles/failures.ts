/** Item requests that fail on purpose, so that programs can test how they deal with failures. @module */

import { answerError, answerJson } from '../http/answer.js'
import type { Exchange, Handler } from '../http/exchange.js'
import { ApiError } from '../interface/errors.js'
import type { Failure, FailureScope, Failures } from './options.js'

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
export function createFailureQueue(onCut: (exchange: Exchange) => void): FailureQueue {
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
