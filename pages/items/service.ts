/** The requests of the page: those of the public interface, with the texts of items as they are. @module */

import { type Reply, textOf } from '../../src/client/exchange.js'
import { ItemStoreError, invalidResponse } from '../../src/client/item-store-error.js'
import { itemTexts } from '../../src/client/item-texts.js'
import { type Call, createSender } from '../../src/client/sender.js'
import type { TokenSource } from '../../src/client/token-source.js'
import { startWaiting } from '../../src/client/waiting.js'
import { paths, prefix } from '../../src/interface/paths.js'
import { currentSession } from '../shared/session.js'

/**
 * Every method throws an {@link ItemStoreError} when the service refuses the request or cannot be reached.
 * Bodies are item requests as JSON text (spec §2.2), results are items as JSON text.
 */
export interface ItemService {
  /** The texts of all items, in parts as they come in. */
  list(signal: AbortSignal): AsyncGenerator<string[], void, void>
  read(id: string): Promise<string>
  create(body: string): Promise<string>
  replace(id: string, body: string): Promise<string>
  delete(id: string): Promise<void>
}

/** Longest wait for the next part of a response, in milliseconds. */
const timeout = 30_000
/** Of a list, in characters. */
const longestPiece = 2 ** 16
/** A service that starts again is back within these. */
const retries = 2

/** There is no token that could be sent. */
class NoTokenError extends Error {
  override readonly name = 'NoTokenError'
}

/** That of the session, at each request. */
const tokens: TokenSource = {
  async current() {
    const { token } = currentSession()
    if (token === '') throw new NoTokenError('There is no token')
    if (/^[\w.~+/=-]+$/.test(token)) return token // RFC 6750 §2.1
    throw new NoTokenError('This is not a token: is there white space in it?')
  },
  forget: () => false,
}

/** The service that this page comes from, with the token of the moment. */
export function connect(): ItemService {
  const baseUrl = location.origin + prefix
  const send = createSender({ baseUrl, tokens, fetch: undefined, timeout, retries })

  async function call<R>(call: Call, read: (reply: Reply) => Promise<R>): Promise<R> {
    const waiting = startWaiting(timeout, undefined)
    try {
      return await send(call, waiting, read)
    } finally {
      waiting.end()
    }
  }

  return {
    async *list(signal) {
      const waiting = startWaiting(timeout, signal)
      try {
        const reply = await send({ method: 'GET', path: paths.items }, waiting, (reply) => reply)
        yield* itemTexts({ ...reply, parts: inPieces(reply.parts) }, 2)
      } finally {
        waiting.end()
      }
    },
    read: (id) => call({ method: 'GET', path: pathOf(id) }, itemText),
    create: (body) => call({ method: 'POST', path: paths.items, body }, itemText),
    replace: (id, body) => call({ method: 'PUT', path: pathOf(id), body }, itemText),
    async delete(id) {
      await call({ method: 'DELETE', path: pathOf(id) }, textOf)
    },
  }
}

/** What has come in while the page was busy can be megabytes, which would keep it busy for long. */
async function* inPieces(parts: Reply['parts']): Reply['parts'] {
  for await (const part of parts) {
    for (let at = 0; at < part.length; at += longestPiece) yield part.slice(at, at + longestPiece)
  }
}

/** The text of the item in a response. */
async function itemText(reply: Reply): Promise<string> {
  let item: string | undefined
  for await (const [text] of itemTexts(reply, 1)) item ??= text
  if (item === undefined) throw invalidResponse(reply.response)
  return item
}

function pathOf(id: string): string {
  return `${paths.items}/${encodeURIComponent(id)}`
}

/** Whether an error is the 404 of an item, which is gone then. */
export function isGone(error: unknown): boolean {
  return error instanceof ItemStoreError && error.status === 404 && error.code === undefined
}

/** Whether an error is about the token, so that another one is needed. */
export function needsToken(error: unknown): boolean {
  return error instanceof NoTokenError || (error instanceof ItemStoreError && error.status === 401)
}

/** An error in words for people, with what helps to find it in the log. */
export function wordsFor(error: unknown): string {
  if (!(error instanceof ItemStoreError)) return String(Object(error).message ?? error)
  const { message, status, code, sessionId } = error
  const details = [status, code, sessionId && `session ${sessionId}`].filter(Boolean).join(' · ')
  return `${code === 'CONNECTION_LOST' ? 'The service cannot be reached' : message} (${details})`
}

/** Whether nobody knows if a request that failed has taken effect (spec §7.3). */
export function isUncertain(error: unknown): boolean {
  const codes = ['CONNECTION_LOST', 'TIMEOUT', 'STORE_UNAVAILABLE', 'INTERNAL_ERROR']
  return error instanceof ItemStoreError && codes.includes(String(error.code))
}
