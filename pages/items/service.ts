/** The requests of the page: those of the public interface, with the texts of items verbatim. @module */

import { createAbortScope } from '../../src/client/abort-scope.js'
import { type TextResponse, wholeText } from '../../src/client/fetch-text.js'
import { ItemStoreError } from '../../src/client/item-store-error.js'
import { itemTexts, singleItemText } from '../../src/client/item-texts.js'

export { isOutcomeUnknown } from '../../src/client/retry.js'

import { createSender, isItemMissing, type ServiceRequest } from '../../src/client/sender.js'
import type { TokenSource } from '../../src/client/token-source.js'
import { paths, prefix } from '../../src/interface/paths.js'
import { currentSession } from '../shared/session.js'

/**
 * Every method throws an {@link ItemStoreError} when the service refuses the request or cannot be reached.
 * Bodies are item requests as JSON text (spec §2.2), results are items as JSON text.
 */
export interface ItemService {
  /** The texts of all items, in parts as they arrive. */
  list(signal: AbortSignal): AsyncGenerator<string[], void, void>
  read(id: string): Promise<string>
  create(body: string): Promise<string>
  replace(id: string, body: string): Promise<string>
  delete(id: string): Promise<void>
}

/** Longest wait for the next part of a response, in milliseconds. */
const timeout = 30_000
/** Longest piece of a list that is processed at once, in characters. */
const longestPiece = 2 ** 16
/** A service that restarts is back within these. */
const retries = 2

/** There is no token that could be sent. */
class NoTokenError extends Error {
  override readonly name = 'NoTokenError'
}

/** The session's token, looked up for each request. */
const tokens: TokenSource = {
  async current() {
    const { token } = currentSession()
    if (token === '') throw new NoTokenError('There is no token')
    if (/^[\w.~+/=-]+$/.test(token)) return token // RFC 6750 §2.1
    throw new NoTokenError('This is not a token: is there white space in it?')
  },
  forget: () => false,
}

/** The service that has served this page, with the current token. */
export function connect(): ItemService {
  const baseUrl = location.origin + prefix
  const send = createSender({ baseUrl, tokens, fetch: undefined, timeout, retries })

  async function call<R>(
    request: ServiceRequest,
    read: (response: TextResponse) => Promise<R>,
  ): Promise<R> {
    const scope = createAbortScope(timeout, undefined)
    try {
      return await send(request, scope, read)
    } finally {
      scope.dispose()
    }
  }

  return {
    async *list(signal) {
      const scope = createAbortScope(timeout, signal)
      try {
        const response = await send({ method: 'GET', path: paths.items }, scope, (each) => each)
        yield* itemTexts({ ...response, parts: inPieces(response.parts) }, 2)
      } finally {
        scope.dispose()
      }
    },
    read: (id) => call({ method: 'GET', path: pathOf(id) }, singleItemText),
    create: (body) => call({ method: 'POST', path: paths.items, body }, singleItemText),
    replace: (id, body) => call({ method: 'PUT', path: pathOf(id), body }, singleItemText),
    async delete(id) {
      await call({ method: 'DELETE', path: pathOf(id) }, wholeText)
    },
  }
}

/** What has arrived while the page was busy can be megabytes, which would keep it busy for long. */
async function* inPieces(parts: TextResponse['parts']): TextResponse['parts'] {
  for await (const part of parts) {
    for (let at = 0; at < part.length; at += longestPiece) yield part.slice(at, at + longestPiece)
  }
}

function pathOf(id: string): string {
  return `${paths.items}/${encodeURIComponent(id)}`
}

/** Whether an error says that the item does not exist any more. */
export function isGone(error: unknown): boolean {
  return error instanceof ItemStoreError && isItemMissing(error)
}

/** Whether an error is about the token, so that another one is needed. */
export function needsToken(error: unknown): boolean {
  return error instanceof NoTokenError || (error instanceof ItemStoreError && error.status === 401)
}

/** An error for people, with what helps to find it in the log. */
export function messageFor(error: unknown): string {
  if (!(error instanceof ItemStoreError))
    return error instanceof Error ? error.message : String(error)
  const { message, status, code, sessionId } = error
  const details = [status, code, sessionId && `session ${sessionId}`].filter(Boolean).join(' · ')
  return `${code === 'CONNECTION_LOST' ? 'The service cannot be reached' : message} (${details})`
}
