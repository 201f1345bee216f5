/** Sends a request if a browser can, and keeps the response as it was received. @module */

import type { Operation } from './openapi.js'
import type { FilledRequest, Input } from './request.js'

export interface Received {
  readonly status: number
  readonly statusText: string
  /** Names in lower case, as browsers give them. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly bytes: Uint8Array<ArrayBuffer>
  /** The bytes as text, to the character. */
  readonly text: string
  /** From the start of the request to the last byte, in milliseconds. */
  readonly time: number
}

/**
 * @param onProgress called with the number of bytes of the body received so far.
 * @throws {Error} of the browser if there is no complete response; an `AbortError` if it was stopped.
 */
export async function sendRequest(
  { method, url, headers, body }: FilledRequest,
  onProgress: (received: number) => void,
  signal: AbortSignal,
): Promise<Received> {
  const startedAt = performance.now()
  const response = await fetch(url, {
    method,
    headers,
    signal,
    cache: 'no-store',
    credentials: 'omit',
    ...(body === undefined ? {} : { body }),
  })
  const bytes = await readAll(response, onProgress)
  return {
    status: response.status,
    statusText: response.statusText,
    headers: [...response.headers],
    bytes,
    // A byte order mark is part of what was sent.
    text: new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes),
    time: performance.now() - startedAt,
  }
}

async function readAll(
  { body }: Response,
  onProgress: (received: number) => void,
): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array<ArrayBuffer>[] = []
  let length = 0
  const reader = body?.getReader()
  while (reader !== undefined) {
    const { done, value } = await reader.read()
    if (done) break
    chunks.push(value)
    length += value.length
    onProgress(length)
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer())
}

/** Returns why a browser cannot send what was filled in. @param token empty for none. */
export function obstacleIn(
  operation: Operation,
  { parameters, body }: Input,
  token: string,
): string | undefined {
  const inputs = [
    ...operation.parameters.map((each) => ({ ...each, text: parameters[each.name] ?? '' })),
    { name: 'The body', in: 'body', text: body ?? '' },
    { name: 'The token', in: 'header', text: token },
  ]
  for (const { name, in: place, text } of inputs) {
    if (place === 'path' && (text === '.' || text === '..')) {
      return `A browser cannot send "${text}" as ${name}: it takes it for a step in the path.`
    }
    const [invalid] = /[^\t -~]/u.exec(place === 'header' ? text : '') ?? []
    if (invalid) return `${name} cannot be sent: "${invalid}" cannot be in a header.`
    if (/\p{Surrogate}/u.test(text)) return `${name} has half a character (a lone surrogate).`
  }
  return undefined
}
