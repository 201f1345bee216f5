/** One request and its response. @module */

import { ItemStoreError, invalidResponse } from './item-store-error.js'
import type { Waiting } from './waiting.js'

/** A function such as the platform's `fetch`. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

export interface Reply {
  readonly response: Response
  /** The body as it comes in. Leaving it early closes the connection. */
  readonly parts: AsyncGenerator<string, void, void>
}

/**
 * What Node.js says when it has no connection to send on: refused, name not resolved, or no connection
 * in time. A connection that breaks says something else, and a browser nothing at all.
 */
const unconnected = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT']

/**
 * Sends a request and waits for the head of the response, whatever its status.
 * @throws {ItemStoreError} `NOT_CONNECTED`, `CONNECTION_LOST` or `TIMEOUT`.
 */
export async function exchange(
  fetch: Fetch,
  url: string,
  init: RequestInit,
  waiting: Waiting,
): Promise<Reply> {
  const { signal } = waiting
  // A redirect would make a create a GET, and say nothing of where the token goes.
  const all: RequestInit = { ...init, redirect: 'manual', signal }
  const response = await reached(url, waiting, () => fetch(url, all))
  return { response, parts: partsOf(url, response, waiting) }
}

/** The whole body. */
export async function textOf({ parts }: Reply): Promise<string> {
  let text = ''
  for await (const part of parts) text += part
  return text
}

async function* partsOf(
  url: string,
  response: Response,
  waiting: Waiting,
): AsyncGenerator<string, void, void> {
  const reader = response.body?.getReader()
  if (reader === undefined) return // as on a 204
  const decoder = new TextDecoder('utf-8', { fatal: true })
  try {
    for (;;) {
      const { done, value } = await reached(url, waiting, () => reader.read(), response)
      let part: string
      try {
        part = decoder.decode(value, { stream: !done })
      } catch {
        throw invalidResponse(response) // not UTF-8: another character in its place would not be exact
      }
      yield part
      if (done) return
    }
  } finally {
    reader.cancel().catch(() => undefined) // it has failed already
  }
}

/** Waits for the service. */
async function reached<T>(
  url: string,
  waiting: Waiting,
  action: () => Promise<T>,
  response?: Response,
): Promise<T> {
  try {
    return await waiting.until(action)
  } catch (cause) {
    waiting.signal.throwIfAborted() // by the caller, or after a timeout
    const isUnsent = response === undefined && unconnected.includes(codeOf(cause))
    throw isUnsent
      ? new ItemStoreError(`Cannot connect to ${url}`, { code: 'NOT_CONNECTED', cause })
      : new ItemStoreError(`No complete response from ${url}`, {
          code: 'CONNECTION_LOST',
          cause,
          response,
        })
  }
}

/** The system's code for why `fetch` has failed. */
function codeOf(error: unknown): string {
  return Object(Object(error).cause).code
}
