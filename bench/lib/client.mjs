/**
 * A small HTTP client on bare sockets: no more than the benchmarks need, so that it is the server
 * that is measured. It sends prepared requests and reads responses that have a Content-Length.
 */

import { randomUUID } from 'node:crypto'
import { connect } from 'node:net'
import { anyId } from './item.mjs'

/**
 * What to request. `once` names what takes the place of `anyId` (or of the token), each used by one
 * request only: the ids of items that exist, ids without an item, or tokens.
 * @typedef {object} Request
 * @property {string} method
 * @property {string} path
 * @property {string} [body]
 * @property {'existing id' | 'unused id' | 'token'} [once]
 */

/** @typedef {Record<string, string>} Headers */

/**
 * The text of a request, and what is to be done with its response.
 * @typedef {object} Sent
 * @property {string} text
 * @property {(status: number, body: string) => void} answered
 */

/**
 * A request as it is sent over the wire.
 * @param {{ method: string, path: string, body?: string, headers?: Headers }} request
 */
export function rawRequest({ method, path, body, headers = {} }) {
  const lines = [`${method} ${path} HTTP/1.1`, 'Host: 127.0.0.1']
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`)
  if (body === undefined) return `${lines.join('\r\n')}\r\n\r\n`
  lines.push('Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`)
  return `${lines.join('\r\n')}\r\n\r\n${body}`
}

/**
 * Sends up to `count` requests over several connections, `depth` of them in flight on each, and none after
 * `seconds`, so that a slow server gets fewer.
 * @param {number} port
 * @param {{ connections: number, depth: number, count: number, seconds: number }} limits
 * @param {() => Sent} makeRequest
 */
export async function sendAll(port, { connections, depth, count, seconds }, makeRequest) {
  const deadline = performance.now() + seconds * 1000
  let left = count
  const next = () => {
    if (left === 0 || performance.now() > deadline) return undefined
    left -= 1
    return makeRequest()
  }
  await Promise.all(Array.from({ length: connections }, () => sendOver(port, depth, next)))
}

/**
 * Creates up to `count` items whose ids the client chooses, as many as fit into `seconds`, and returns
 * the ids.
 * @param {number} port
 * @param {Request} create a request with `anyId`
 * @param {number} count
 * @param {number} seconds
 */
export async function createWithOwnIds(port, create, count, seconds) {
  const text = rawRequest(create)
  /** @type {string[]} */
  const ids = []
  await sendAll(port, { connections: 32, depth: 1, count, seconds }, () => {
    const id = randomUUID()
    return { text: text.replace(anyId, id), answered: () => ids.push(id) }
  })
  return ids
}

/**
 * @param {number} port
 * @param {number} depth
 * @param {() => Sent | undefined} next the next request, or `undefined` at the end
 * @returns {Promise<void>}
 */
function sendOver(port, depth, next) {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    /** @type {Sent[]} */
    const inFlight = []
    const read = answerReader((status, body) => inFlight.shift()?.answered(status, body))

    function fill() {
      let text = ''
      while (inFlight.length < depth) {
        const request = next()
        if (request === undefined) break
        inFlight.push(request)
        text += request.text
      }
      if (text !== '') socket.write(text, 'latin1')
      else if (inFlight.length === 0) socket.end()
    }

    socket
      .on('connect', fill)
      .on('data', (chunk) => {
        read(chunk)
        fill()
      })
      .on('error', reject)
      .on('close', () => {
        if (inFlight.length > 0) reject(new Error('the server closed the connection'))
        resolve()
      })
  })
}

/**
 * Sends the request `text` for a list and reads the response into one buffer over and over, so that
 * this end costs almost nothing. Returns its length in bytes.
 * @param {number} port
 * @param {string} text
 * @returns {Promise<number>}
 */
export function readList(port, text) {
  return new Promise((resolve, reject) => {
    let head = ''
    /** @type {number | undefined} */
    let expected
    let received = 0
    const socket = connect({
      port,
      host: '127.0.0.1',
      onread: {
        buffer: Buffer.alloc(256 * 1024),
        callback(length, buffer) {
          received += length
          if (expected === undefined) {
            head += Buffer.from(buffer.buffer, buffer.byteOffset, length).toString('latin1')
            const [, bytes] = /\r\nContent-Length: (\d+)\r\n/i.exec(head) ?? []
            const end = head.indexOf('\r\n\r\n')
            if (end === -1) return true
            if (!head.startsWith('HTTP/1.1 200 ')) {
              socket.destroy(new Error(`a list was answered ${head.slice(9, 12)}`))
            }
            if (bytes === undefined) socket.destroy(new Error('a list without Content-Length'))
            expected = end + 4 + Number(bytes)
          }
          if (received >= expected) socket.end()
          return true
        },
      },
    })
    socket.write(text)
    socket.on('error', reject).on('close', () => {
      if (received === expected) resolve(received)
      else reject(new Error(`the list ended after ${received} of ${expected} bytes`))
    })
  })
}

/**
 * Splits what a connection delivers into responses. Bodies are passed on as Latin-1 text.
 * @param {(status: number, body: string) => void} onAnswer
 */
export function answerReader(onAnswer) {
  let text = ''
  /** @param {Buffer} chunk */
  return function read(chunk) {
    text += chunk.toString('latin1')
    for (;;) {
      const bodyStart = text.indexOf('\r\n\r\n') + 4
      if (bodyStart === 3) return
      const bodyEnd = bodyStart + contentLength(text.slice(0, bodyStart))
      if (bodyEnd > text.length) return
      onAnswer(Number(text.slice(9, 12)), text.slice(bodyStart, bodyEnd))
      text = text.slice(bodyEnd)
    }
  }
}

/** @param {string} head */
function contentLength(head) {
  const found = /\r\ncontent-length: *(\d+)/i.exec(head)
  if (found) return Number(found[1])
  if (/^HTTP\/1\.1 204 /.test(head)) return 0
  throw new Error(`an answer without Content-Length: ${head}`)
}
