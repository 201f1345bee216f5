/**
 * What the page asks the service, by the public interface, with the texts of items verbatim. Every function throws an
 * {@link ItemStoreError} when the service refuses the request or cannot be reached.
 *
 * @module
 */

import { ItemStoreClient, ItemStoreError } from '../../src/client/client.js'
import { prefix } from '../../src/interface/names.js'
import { currentToken } from '../shared/session.js'

/** A service that restarts is back within these. */
const retries = 2
/** How long a read waits for a change, in seconds: less than the client's timeout. */
const changeWait = 20
/** Before the next such read where the service did not wait, in milliseconds. */
const longPause = 5_000

/** There is no token that could be sent. */
class NoTokenError extends Error {
  override readonly name = 'NoTokenError'
}

/** Sends a request to the service that has served this page, with the token that the tab has now. */
export const send: ItemStoreClient['request'] = async (request, options, read) => {
  const token = currentToken()
  if (token === '') throw new NoTokenError('There is no token')
  // RFC 6750 §2.1
  if (!/^[\w.~+/=-]+$/.test(token)) {
    throw new NoTokenError('This is not a token: is there white space in it?')
  }
  const client = new ItemStoreClient({ baseUrl: location.origin + prefix, token, retries })
  return await client.request(request, options, read)
}

/**
 * Lists the texts of all items or of one project's, in parts as they arrive.
 * @param onHead called with the headers of the list, before its first part.
 */
export async function* list(
  project: string | undefined,
  signal: AbortSignal,
  onHead: (headers: Headers) => void,
): AsyncGenerator<readonly string[], void, void> {
  const response = await send({ path: listPath(project) }, { signal }, (each) => each)
  onHead(response.head.headers)
  yield* response.texts()
}

/** Resolves once the list has another tag than this one. */
export async function nextChange(
  project: string | undefined,
  tag: string,
  signal: AbortSignal,
): Promise<void> {
  const headers = { 'if-none-match': tag, prefer: `wait=${changeWait}` }
  for (;;) {
    const request = { method: 'HEAD', path: listPath(project), headers } as const
    const head = await send(request, { signal }, (response) => response.head)
    if (head.status !== 304) return
    if (head.headers.has('preference-applied')) continue
    await new Promise((resolve) => setTimeout(resolve, longPause))
    signal.throwIfAborted()
  }
}

function listPath(project: string | undefined): string {
  return project === undefined ? '/items' : `/items?project_id=${encodeURIComponent(project)}`
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
