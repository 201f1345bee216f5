/** Sends a request with `fetch` and reads the whole response. Also finds input that browsers cannot send. @module */

import type { Operation } from './openapi.js'
import type { FilledRequest, Input } from './request.js'

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

export function obstacleIn(operation: Operation, { parameters, body }: Input, token: string) {
  const inputs = [
    ...operation.parameters.map((each) => ({ ...each, text: parameters[each.name] ?? '' })),
    { name: 'The body', in: 'body', text: body ?? '' },
    { name: 'The token', in: 'header', text: token },
  ]
  for (const { name, in: place, text } of inputs) {
    if (place === 'path' && (text === '.' || text === '..')) {
      return `A browser cannot send "${text}" as ${name}: browsers remove it from paths.`
    }
    const [invalid] = /[^\t -~]/u.exec(place === 'header' ? text : '') ?? []
    if (invalid) return `${name} cannot be sent: "${invalid}" cannot be in a header.`
    if (/\p{Surrogate}/u.test(text)) return `${name} has half a character (a lone surrogate).`
  }
  return undefined
}
