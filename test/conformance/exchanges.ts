/** Remembers which request a test is about, so that its report can show it: the one whose answer was looked at last. */

import type { OutgoingHttpHeaders } from 'node:http'
import type { Answer } from './client.js'

/** A request and, if there is one, its answer. */
export interface Exchange {
  readonly method: string
  readonly url: string
  readonly headers: OutgoingHttpHeaders
  readonly body: Buffer | undefined
  readonly answer?: Answer
}

/** Tokens that the service has to accept. */
export const validTokens = new Set<string>()

let current: Exchange | undefined

/** @param exchange `undefined` at the start of a test. */
export function show(exchange: Exchange | undefined): void {
  current = exchange
}

export function shownExchange(): Exchange | undefined {
  return current
}

/** The same answer, which is shown once a test looks at it. */
export function watched(exchange: Exchange, answer: Answer): Answer {
  const look = <T>(value: T): T => {
    show({ ...exchange, answer })
    return value
  }
  return {
    get status() {
      return look(answer.status)
    },
    get headers() {
      return look(answer.headers)
    },
    get text() {
      return look(answer.text)
    },
    json: () => look(answer).json(),
  }
}
