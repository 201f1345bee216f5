/** Sends requests to the service. Items stay JSON text. Failed requests throw {@link ItemStoreError}. @module */

import { ItemStoreClient, ItemStoreError } from '../../../src/client/client.js'
import { wait } from '../../../src/client/fetch-text.js'
import { listPath } from '../../../src/client/item-requests.js'
import { hasCode } from '../../../src/client/item-store-error.js'
import { isToken, type Send } from '../../../src/client/sender.js'
import { prefix } from '../../../src/interface/paths.js'
import { urlOf } from '../../shared/address.js'
import { token as tokenState } from '../../shared/session.js'
import { createState } from '../../shared/state.js'

const retries = 2 // a restarting service is usually back before the last
const changeWait = 20 // in seconds, less than the client's timeout
const longPause = 5_000 // ms between polls if the service lacks `Prefer: wait`

class NoTokenError extends Error {
  override readonly name = 'NoTokenError'
}

/** Latest error that only another token ends. */
export const refusal = createState<unknown>(undefined)

export const send: Send = async (request, options, read) => {
  try {
    const token = tokenState.get()
    const wrong = token ? 'This is not a token: is there white space in it?' : 'There is no token'
    if (!isToken(token)) throw new NoTokenError(wrong)
    const client = new ItemStoreClient({ baseUrl: urlOf(prefix), token, retries })
    return await client.request(request, options, read)
  } catch (error) {
    if (needsToken(error)) refusal.set(error)
    throw error
  }
}

/** Yields the JSON texts of items as they arrive. Calls `onHead` before the first. */
export async function* list(
  projectId: string | undefined,
  signal: AbortSignal,
  onHead: (headers: Headers) => void,
): AsyncGenerator<readonly string[], void, void> {
  const response = await send({ path: listPath({ projectId }) }, { signal }, (each) => each)
  onHead(response.head.headers)
  yield* response.texts()
}

export async function nextChange(projectId: string | undefined, tag: string, signal: AbortSignal) {
  const headers = { 'if-none-match': tag, prefer: `wait=${changeWait}` }
  for (;;) {
    const request = { method: 'HEAD', path: listPath({ projectId }), headers } as const
    const head = await send(request, { signal }, (response) => response.head)
    if (head.status !== 304) return
    if (head.headers.has('preference-applied')) continue
    await wait(longPause, signal)
  }
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
  return hasCode(error, 'CONNECTION_LOST') ? 'The service cannot be reached' : error.message
}

/** Returns status, code and session id of an error response, to find it in the service's log. */
export function detailsOf(error: unknown): string {
  if (!(error instanceof ItemStoreError)) return ''
  const { status, code, sessionId } = error
  return [status, code, sessionId && `session ${sessionId}`].filter(Boolean).join(' · ')
}
