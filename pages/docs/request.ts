/** Sends a request as it was filled in, and keeps the response as it was received. @module */

import type { Operation } from './openapi.js'

/** What has been filled in. */
export interface Input {
  /** Values of parameters by name. */
  readonly parameters: Readonly<Record<string, string>>
  /** `undefined` for an operation without one. */
  readonly body: string | undefined
}

export interface FilledRequest {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

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

/** Why a browser cannot send what has been filled in. */
export interface Obstacle {
  readonly obstacle: string
}

/** The request for an input. @param token empty for none. */
export function requestFor(
  operation: Operation,
  input: Input,
  token: string,
): FilledRequest | Obstacle {
  const obstacle = obstacleIn(operation, input, operation.needsToken ? token : '')
  if (obstacle !== undefined) return { obstacle }
  const { parameters, body } = input
  const encoded = (name: string) => encodeURIComponent(parameters[name] ?? '')
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encoded(name))
  const query = operation.parameters.flatMap(({ name, in: place }) =>
    place === 'query' && parameters[name] ? [`${name}=${encoded(name)}`] : [],
  )
  const given = operation.parameters.flatMap(({ name, in: place }) =>
    place === 'header' && parameters[name] ? [[name, parameters[name]]] : [],
  )
  const [type] = Object.keys(operation.requestBody?.content ?? {})
  return {
    method: operation.method,
    url: new URL([path, ...query].join('?'), location.origin).href,
    headers: {
      ...(operation.needsToken && token !== '' ? { Authorization: `Bearer ${token}` } : {}),
      ...(body !== undefined && type !== undefined ? { 'Content-Type': type } : {}),
      ...Object.fromEntries(given),
    },
    body,
  }
}

function obstacleIn(
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

/** The command that sends the same request, with a shell variable for the token. */
export function curlFor(
  { method, url, headers, body }: FilledRequest,
  needsToken: boolean,
): string {
  const lines = [
    `curl${method === 'GET' ? '' : ` -X ${method}`} ${quoted(url)}`,
    ...(needsToken ? ['-H "Authorization: Bearer $TOKEN"'] : []),
    ...Object.entries(headers)
      .filter(([name]) => name !== 'Authorization')
      .map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`--data-raw ${quoted(body)}`]),
  ]
  return lines.join(' \\\n  ')
}

/** The text as one word of a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
