/** Sends a request with `fetch` and reads the whole response. @module */

import type { FilledRequest } from './request.js'

export type Received = Awaited<ReturnType<typeof sendRequest>>

/** @throws {Error} if the response is incomplete, or the signal is aborted. */
export async function sendRequest(
  { method, url, headers, body }: FilledRequest,
  signal: AbortSignal,
) {
  const startedAt = performance.now()
  const response = await fetch(url, {
    method,
    headers,
    signal,
    cache: 'no-store',
    credentials: 'omit',
    ...(body === undefined ? {} : { body }),
  })
  const bytes = new Uint8Array(await response.arrayBuffer())
  return {
    status: response.status,
    statusText: response.statusText,
    headers: [...response.headers], // header names are in lower case
    bytes,
    // A byte order mark is part of the body.
    text: new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes),
    time: performance.now() - startedAt, // in ms, from the start of the request to the last byte of the response
  }
}
