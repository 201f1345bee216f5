/** Requests written byte by byte to a socket, for what no HTTP client would send. */

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Answer, answer } from '../conformance/client.js'

const timeout = 15_000 // in milliseconds

/**
 * Writes the bytes and reads the answers to them, whole or not; keeps the connection open
 * meanwhile.
 * @param count answers to wait for.
 */
export function exchange(url: URL, bytes: string | Buffer, count: number): Promise<Answer[]> {
  return withSocket(url, (socket) => {
    socket.write(bytes)
    return readAnswers(socket, count)
  })
}

/** The same for a single answer. */
export async function exchangeOne(url: URL, bytes: string | Buffer): Promise<Answer> {
  return only(await exchange(url, bytes, 1))
}

/** Writes piece after piece, and reads only then, as simple clients do. */
export function sendThenRead(url: URL, pieces: string[]): Promise<Answer> {
  return withSocket(url, async (socket) => {
    await writePieces(socket, pieces)
    return only(await readAnswers(socket, 1))
  })
}

/** Writes piece after piece, and gives all answers until the service closes the connection. */
export function exchangeUntilClosed(url: URL, pieces: string[]): Promise<Answer[]> {
  return withSocket(url, async (socket) => {
    await writePieces(socket, pieces)
    return await readAnswers(socket, Number.POSITIVE_INFINITY)
  })
}

/** Waits until the service has closed the connection on which it got these bytes. */
export function untilClosed(url: URL, bytes: string): Promise<unknown> {
  return withSocket(url, (socket) => {
    socket.resume().write(bytes)
    return once(socket, 'close')
  })
}

/** Writes the bytes and resets the connection. */
export function breakOff(url: URL, bytes: string): Promise<unknown> {
  return withSocket(url, async (socket) => {
    await once(socket, 'connect')
    if (bytes !== '') await new Promise((resolve) => socket.write(bytes, resolve))
    socket.resetAndDestroy()
  })
}

async function writePieces(socket: Socket, pieces: string[]): Promise<void> {
  for (const piece of pieces) {
    await new Promise<void>((resolve, reject) => {
      socket.write(piece, (error) => (error ? reject(error) : resolve()))
    })
    await sleep(5)
  }
}

async function withSocket<T>(url: URL, use: (socket: Socket) => Promise<T>): Promise<T> {
  const socket = connect(Number(url.port), url.hostname)
  const timer = setTimeout(() => socket.destroy(new Error('no answer in time')), timeout)
  socket.on('error', () => undefined) // whoever writes or reads is told of it too
  try {
    return await use(socket)
  } finally {
    clearTimeout(timer)
    socket.destroy()
  }
}

function only([answer]: Answer[]): Answer {
  if (answer === undefined) throw new Error('the connection ended without an answer')
  return answer
}

async function readAnswers(socket: Socket, count: number): Promise<Answer[]> {
  const answers: Answer[] = []
  let rest = Buffer.alloc(0)
  for await (const chunk of socket) {
    rest = Buffer.concat([rest, chunk])
    for (let taken = takeAnswer(rest); taken !== undefined; taken = takeAnswer(rest)) {
      answers.push(taken.answer)
      if (answers.length === count) return answers
      rest = rest.subarray(taken.length)
    }
  }
  return answers
}

/** The first answer in the bytes and its length, or `undefined` while some of it is missing. */
function takeAnswer(bytes: Buffer): { answer: Answer; length: number } | undefined {
  const headLength = bytes.indexOf('\r\n\r\n') + 4
  if (headLength < 4) return undefined
  const [statusLine = '', ...lines] = bytes.toString('latin1', 0, headLength - 4).split('\r\n')
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    }),
  )
  const length = headLength + Number(headers['content-length'] ?? 0)
  if (bytes.length < length) return undefined
  const text = bytes.toString('utf8', headLength, length)
  return { answer: answer(Number(statusLine.split(' ')[1]), headers, text), length }
}
