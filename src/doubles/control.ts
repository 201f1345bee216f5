/** Endpoints for tests in any language, which reset, seed and break the store. Only `dev` has them. @module */

import { UsageError } from '../config/usage-error.js'
import { answerEmpty, answerJson, sendChunks, writeJsonHead } from '../http/answer.js'
import type { ReadBody } from '../http/body.js'
import type { Guard, Handler, Route } from '../http/exchange.js'
import { inPortions } from '../http/pacing.js'
import { errorBody } from '../interface/errors.js'
import type { ItemStore } from '../store/item-store.js'
import { controlPrefix, type Doubles, wholeBody } from './doubles.js'
import type { Delay, Failures, RecordedRequest, RequestScope } from './options.js'
import { readSeed, storeItems } from './seed.js'

const maxItems = 10_000 // each takes 500 bytes more than its text until it is stored
const maxSettingsBytes = 16 * 1024 // parsed at once

type Settings = RequestScope & Delay & { readonly failures: Failures }

/** Returns the routes below `/control/`, which the OpenAPI document leaves out. */
export function createControlRoutes(
  store: ItemStore,
  doubles: Doubles,
  readBody: ReadBody,
  guards: readonly Guard[],
): Route[] {
  const reset: Handler = (exchange) => {
    if (store.clear !== undefined) {
      doubles.reset()
      store.clear()
      return answerEmpty(exchange, 204)
    }
    const message = 'Other services may use the items on the server that STORE_URL names'
    answerJson(exchange, 409, errorBody({ message, code: 'SHARED_STORE' }, exchange.sessionId))
  }

  const seed: Handler = async (exchange) => {
    const isCurrent = doubles.sinceNow()
    const items = await readBody(exchange, function* (body) {
      const text = yield* wholeBody(body)
      body.accountFor(text.length + 500 * Math.min(maxItems, text.length / 3)) // `{}` and a comma are the shortest item
      return yield* readSeed(text, maxItems)
    })
    const ids = await storeItems(store, items, doubles.newId, isCurrent)
    answerJson(exchange, 201, { session_id: exchange.sessionId, ids })
  }

  const set =
    (apply: (settings: Settings) => void): Handler =>
    async (exchange) => {
      const settings = await readBody(exchange, function* (body) {
        const text = yield* wholeBody(body)
        if (text.length > maxSettingsBytes || (yield* readSeed(text)).length !== 1) {
          throw new UsageError(`the body is not one JSON object of up to ${maxSettingsBytes} bytes`)
        }
        return JSON.parse(text.toString().trim()) as Settings // its values are checked when they are applied
      })
      exchange.requireNoReset?.()
      apply(settings)
      answerEmpty(exchange, 204)
    }

  const listRequests: Handler = async (exchange) => {
    const before = `{"session_id":"${exchange.sessionId}","requests":[`
    const chunks = inPortions(jsonOf(doubles.requests()))
    if (!writeJsonHead(exchange, 200, undefined)) return
    await sendChunks(exchange, before, { byteLength: undefined, chunks }, ']}')
  }

  const handlers = {
    reset: { POST: reset },
    seed: { POST: seed },
    failures: { POST: set(({ failures, ...scope }) => doubles.fail(failures, scope)) },
    delay: { POST: set(({ min, max, ...scope }) => doubles.delay({ min, max }, scope)) },
    requests: { GET: listRequests },
  }
  return Object.entries(handlers).map(([name, handlers]) => {
    return { path: controlPrefix + name, guards, handlers }
  })
}

const pieceLength = 64 * 1024

/** Yields recorded requests as JSON, in short pieces. */
function* jsonOf(requests: readonly RecordedRequest[]): Generator<Buffer, void> {
  let before = ''
  for (const { sessionId, body, status = null, ...request } of requests) {
    const head = JSON.stringify({ ...request, status, session_id: sessionId })
    yield Buffer.from(`${before}${head.slice(0, -1)},"body":${body === undefined ? 'null' : '"'}`)
    for (let at = 0; body && at < body.length; at += pieceLength) {
      yield Buffer.from(JSON.stringify(body.slice(at, at + pieceLength)).slice(1, -1))
    }
    before = body === undefined ? '},' : '"},'
  }
  yield Buffer.from(before.slice(0, -1))
}
