/** Lets requests fail on purpose, so that programs can test how they deal with it. @module */

import type { Failure, Failures } from '../config/misbehavior.js'
import { ApiError } from '../interface/errors.js'
import { answerJson } from './answer.js'
import type { Handler } from './exchange.js'

const detail = 'This failure was asked for'
const soon = ['Retry-After', '1'] // in seconds

/** @returns what makes a handler fail instead of doing anything. All handlers share the failures. */
export function createFailures(failures: Failures): (handle: Handler) => Handler {
  const next = Array.isArray(failures) ? inTurn(failures) : atRandom(failures)

  return (handle) =>
    function failOrHandle(exchange) {
      const failure = next()
      switch (failure) {
        case undefined:
          return handle(exchange)
        case 'cut':
          exchange.request.socket.destroy()
          return
        case 429: {
          // A proxy would say so, but not this service: it has no code of its own.
          const body = { detail: { detail, session_id: exchange.sessionId } }
          answerJson(exchange, 429, body, soon)
          return
        }
        case 500:
          throw new ApiError('INTERNAL_ERROR', detail)
        case 503:
          throw new ApiError('SERVICE_UNAVAILABLE', detail)
      }
    }
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
