/** Sends requests to the service. Items stay JSON text. Failed requests throw {@link ItemStoreError}. @module */

import { ItemStoreClient, ItemStoreError } from '../../../src/client/client.js'
import { prefix } from '../../../src/interface/paths.js'
import { urlOf } from '../../shared/address.js'
import { token as tokenState } from '../../shared/session.js'

const retries = 2 // a restarting service is usually back before the last
const changeWait = 20 // in seconds, less than the client's timeout
const longPause = 5_000 // ms between polls if the service lacks `Prefer: wait`

class NoTokenError extends Error {
  override readonly name = 'NoTokenError'
}

export const send: ItemStoreClient['request'] = async (request, options, read) => {
  const token = tokenState.get()
  if (token === '') throw new NoTokenError('There is no token')
  // The characters of bearer tokens (RFC 6750 §2.1).
  if (!/^[\w.~+/=-]+$/.test(token)) {
    throw new NoTokenError('This is not a token: is there white space in it?')
  }
  const client = new ItemStoreClient({ baseUrl: urlOf(prefix), token, retries })
  return await client.request(request, options, read)
}

/** Yields the JSON texts of items as they arrive. Calls `onHead` before the first. */
export async function* list(
  project: string | undefined,
  signal: AbortSignal,
  onHead: (headers: Headers) => void,
): AsyncGenerator<readonly string[], void, void> {
  const response = await send({ path: listPath(project) }, { signal }, (each) => each)
  onHead(response.head.headers)
  yield* response.texts()
}

export async function nextChange(project: string | undefined, tag: string, signal: AbortSignal) {
  const headers = { 'if-none-match': tag, prefer: `wait=${changeWait}` }
  for (;;) {
    const request = { method: 'HEAD', path: listPath(project), headers } as const
    const head = await send(request, { signal }, (response) => response.head)
    if (head.status !== 304) return
    if (head.headers.has('preference-applied')) continue
    await new Promise((resolve, reject) => {
      const timer = setTimeout(resolve, longPause)
      signal.addEventListener('abort', () => {
        clearTimeout(timer)
        reject(signal.reason)
      })
    })
  }
}

function listPath(project: string | undefined): string {
  return project === undefined ? '/items' : `/items?project_id=${encodeURIComponent(project)}`
}

export function needsToken(error: unknown): boolean {
  return error instanceof NoTokenError || (error instanceof ItemStoreError && error.status === 401)
}

export function messageFor(error: unknown): string {
  const details = detailsOf(error)
  return reasonOf(error) + (details && ` (${details})`)
}

export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const isLost = error instanceof ItemStoreError && error.code === 'CONNECTION_LOST'
  return isLost ? 'The service cannot be reached' : error.message
}

/** Returns status, code and session id of an error response, to find it in the service's log. */
export function detailsOf(error: unknown): string {
  if (!(error instanceof ItemStoreError)) return ''
  const { status, code, sessionId } = error
  return [status, code, sessionId && `session ${sessionId}`].filter(Boolean).join(' · ')
}
