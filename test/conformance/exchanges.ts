/** Remembers the response that a test has read last, and its request. If the test fails, the report shows both. */

import type { OutgoingHttpHeaders } from 'node:http'
import type { Answer } from './client.js'

export interface Exchange {
  readonly method: string
  readonly url: string
  readonly headers: OutgoingHttpHeaders
  readonly body: Buffer | undefined
  readonly answer?: Answer
}

export const validTokens = new Set<string>()

let current: Exchange | undefined

export function show(exchange: Exchange | undefined): void {
  current = exchange
}

export function shownExchange(): Exchange | undefined {
  return current
}

/** Wraps a response, to notice when a test reads it. The report of a failed test shows the last response read. */
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
