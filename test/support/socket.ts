/** TCP connections to a service, for bytes that no HTTP client would send, and the responses on them. */

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { after } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import {
  type Answer,
  answer,
  noAnswer,
  type Service,
  timeForAnswer,
} from '../conformance/client.js'

type Bytes = string | Buffer

/** Opens a connection, and closes it at the end of the test. Reads and writes throw its errors. */
export function openSocket(...args: Parameters<typeof opened>): Socket {
  const socket = opened(...args)
  after(() => socket.destroy())
  return socket
}

export function openSockets(url: URL, count: number, bytes: Bytes = ''): Socket[] {
  return Array.from({ length: count }, () => openSocket(url, bytes))
}

/** Returns the first bytes that arrive, as text. @throws {Error} if the connection ends first. */
export async function firstText(socket: Socket): Promise<string> {
  limitSilence(socket)
  return await new Promise((resolve, reject) => {
    socket.once('data', (bytes: Buffer) => {
      socket.setTimeout(0) // from now on, the connection may be idle
      resolve(bytes.toString('latin1'))
    })
    socket.once('error', reject)
    socket.once('close', () => reject(new Error('the connection ended without an answer')))
  })
}

/** Returns all bytes until the service closes the connection, as text with one character for each byte. */
export async function wholeText(socket: Socket): Promise<string> {
  limitSilence(socket)
  const chunks: Buffer[] = []
  for await (const chunk of socket) chunks.push(chunk)
  return Buffer.concat(chunks).toString('latin1')
}

/** Reads 8 MB per second until the service closes the connection. */
export async function* slowly(socket: Socket): AsyncGenerator<Buffer> {
  limitSilence(socket)
  for await (const chunk of socket) {
    yield chunk
    await delay(chunk.length / 8_000)
  }
}

export function headOf(service: Service, method: string, path: string, ...lines: string[]): string {
  return [
    `${method} ${service.baseUrl.pathname}${path} HTTP/1.1`,
    'Host: a',
    `Authorization: Bearer ${service.validToken()}`,
    ...lines,
    '\r\n',
  ].join('\r\n')
}

/** Writes all bytes, then reads `count` responses or, by default, all responses until the connection closes. */
export async function exchange(
  url: URL,
  bytes: Bytes | readonly string[],
  count = Number.POSITIVE_INFINITY,
): Promise<Answer[]> {
  const socket = opened(url)
  try {
    limitSilence(socket)
    if (typeof bytes === 'string' || Buffer.isBuffer(bytes)) socket.write(bytes)
    else await writePieces(socket, bytes)
    const reader = answerReader()
    for await (const chunk of socket) {
      reader.take(chunk)
      if (reader.all.length >= count) break
    }
    return reader.all.slice(0, count).map(parsed)
  } finally {
    socket.destroy()
  }
}

/** Writes all bytes, and returns the first response. @throws {Error} if no response arrives. */
export async function exchangeOne(url: URL, bytes: Bytes | readonly string[]): Promise<Answer> {
  const [answer] = await exchange(url, bytes, 1)
  if (answer === undefined) throw new Error('the connection ended without an answer')
  return answer
}

/** Writes pieces of text, 5 ms apart. @throws {Error} if a piece cannot be written. */
export async function writePieces(socket: Socket, pieces: readonly string[]): Promise<void> {
  for (const piece of pieces) {
    await new Promise<void>((resolve, reject) => {
      socket.write(piece, (error) => (error ? reject(error) : resolve()))
    })
    await delay(5)
  }
}

function opened(url: URL, bytes: Bytes = '', options: { allowHalfOpen?: boolean } = {}): Socket {
  const socket = connect({ ...options, port: Number(url.port), host: url.hostname })
  socket.on('error', () => undefined)
  if (bytes.length > 0) socket.write(bytes)
  return socket
}

function limitSilence(socket: Socket): void {
  socket.setTimeout(timeForAnswer(true), () =>
    socket.destroy(noAnswer('bytes that were written to a socket')),
  )
}

function parsed({ status, head, body }: RawAnswer): Answer {
  const [, ...lines] = head.trimEnd().split('\r\n')
  const headers = lines.map((line) => {
    const [name = '', ...value] = line.split(':')
    return [name.toLowerCase(), value.join(':').trim()]
  })
  return answer(status, Object.fromEntries(headers), Buffer.from(body, 'latin1').toString())
}

/** A response as it arrived: strings with one character for each byte. */
export interface RawAnswer {
  readonly status: number
  readonly head: string
  readonly body: string
}

/** @param isHead returns whether the response at an index belongs to a HEAD request. */
export function answerReader(isHead: (place: number) => boolean = () => false) {
  const answers: RawAnswer[] = [] // complete responses, without those with status 100
  const all: RawAnswer[] = [] // complete responses, with those with status 100
  let chunks: Buffer[] = []
  let length = 0
  let needed = 0

  function takeAnswers(): void {
    let bytes = Buffer.concat(chunks)
    for (;;) {
      const end = bytes.indexOf('\r\n\r\n') + 4
      if (end < 4) {
        needed = 0
        break
      }
      const head = bytes.toString('latin1', 0, end)
      const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1])
      const hasBody = status >= 200 && status !== 204 && !isHead(answers.length)
      needed = end + (hasBody ? Number(headerOf(head, 'content-length') ?? 0) : 0)
      if (bytes.length < needed) break
      const answer = { status, head, body: bytes.toString('latin1', end, needed) }
      all.push(answer)
      if (status !== 100) answers.push(answer)
      bytes = bytes.subarray(needed)
    }
    chunks = [bytes]
    length = bytes.length
  }

  return {
    answers,
    all,
    take(chunk: Buffer) {
      chunks.push(chunk)
      length += chunk.length
      if (length >= needed) takeAnswers() // parsing after every chunk of a long response would be slow
    },
    rest: () => Buffer.concat(chunks).toString('latin1'),
  }
}

export function headerOf(head: string, name: string): string | undefined {
  return new RegExp(`\r\n${name}: *([^\r]*)\r\n`, 'i').exec(head)?.[1]
}

/** Begins to read a response that is too long for the buffers of the system. */
export async function stalledRead(service: Service, path: string) {
  const socket = openSocket(service.baseUrl, headOf(service, 'GET', path, 'Connection: close'))
  await once(socket, 'readable')
  return {
    /** Reads the rest. Returns the response body, or `undefined` if the service has cut it. */
    async body(): Promise<string | undefined> {
      const text = await wholeText(socket).catch(() => '')
      const length = Number(/^Content-Length: (\d+)\r$/im.exec(text)?.[1])
      const body = text.slice(text.indexOf('\r\n\r\n') + 4)
      return body.length === length ? Buffer.from(body, 'latin1').toString() : undefined
    },
  }
}
