/** Fetches one response, whose body is text that arrives in parts. @module */

import type { AbortScope } from './abort-scope.js'
import { ItemStoreError, invalidResponse, membersOf } from './item-store-error.js'

/** A function such as the platform's `fetch`. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

export interface TextResponse {
  readonly head: Response
  /** The body as it arrives. Leaving it early closes the connection. */
  readonly parts: AsyncGenerator<string, void, void>
}

/**
 * What Node.js reports when it could not connect: connection refused, name not resolved, or no connection
 * in time. It reports something else for a connection that breaks, and a browser never says why.
 */
const notConnected = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT']

/**
 * Sends a request and waits for the head of the response, whatever its status.
 * @throws {ItemStoreError} `NOT_CONNECTED`, `CONNECTION_LOST` or `TIMEOUT`.
 */
export async function fetchText(
  fetch: Fetch,
  url: string,
  init: RequestInit,
  scope: AbortScope,
): Promise<TextResponse> {
  const { signal } = scope
  // Following a redirect would turn a create into a GET, and send the token who knows where.
  const options: RequestInit = { ...init, redirect: 'manual', signal }
  const head = await orNetworkError(url, scope, () => fetch(url, options))
  return { head, parts: partsOf(url, head, scope) }
}

/** The whole body. */
export async function wholeText({ parts }: TextResponse): Promise<string> {
  let text = ''
  for await (const part of parts) text += part
  return text
}

async function* partsOf(
  url: string,
  response: Response,
  scope: AbortScope,
): AsyncGenerator<string, void, void> {
  const reader = response.body?.getReader()
  if (reader === undefined) return // as with a 204
  const decoder = new TextDecoder('utf-8', { fatal: true })
  try {
    for (;;) {
      const { done, value } = await orNetworkError(url, scope, () => reader.read(), response)
      let part: string
      try {
        part = decoder.decode(value, { stream: !done })
      } catch {
        throw invalidResponse(response) // not UTF-8: replacement characters would not be exact
      }
      yield part
      if (done) return
    }
  } finally {
    reader.cancel().catch(() => undefined) // it has failed already
  }
}

/** The outcome of a network operation; its failure as an error of this client. */
async function orNetworkError<T>(
  url: string,
  scope: AbortScope,
  operation: () => Promise<T>,
  response?: Response,
): Promise<T> {
  try {
    return await scope.withTimeout(operation)
  } catch (cause) {
    scope.signal.throwIfAborted() // by the caller, or after a timeout
    const { code } = membersOf(membersOf(cause).cause)
    const isUnsent = response === undefined && notConnected.includes(`${code}`)
    throw isUnsent
      ? new ItemStoreError(`Cannot connect to ${url}`, { code: 'NOT_CONNECTED', cause })
      : new ItemStoreError(`No complete response from ${url}`, {
          code: 'CONNECTION_LOST',
          cause,
          response,
        })
  }
}
