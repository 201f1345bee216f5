/**
 * A small HTTP client on bare sockets: no more than the benchmarks need, so that it is the server
 * that is measured. It sends prepared requests and reads responses that have a Content-Length.
 */

import { connect } from 'node:net'

/** A request as it is sent over the wire. */
export function rawRequest({ method, path, body, headers = {} }) {
  const lines = [`${method} ${path} HTTP/1.1`, 'Host: 127.0.0.1']
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`)
  if (body === undefined) return `${lines.join('\r\n')}\r\n\r\n`
  lines.push('Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`)
  return `${lines.join('\r\n')}\r\n\r\n${body}`
}

/**
 * Sends requests over several connections, `depth` of them in flight on each.
 * @param next returns the next request, `{ text, answered(status, body) }`, or `undefined` at the end.
 */
export async function sendAll({ port, connections = 16, depth = 1, next }) {
  const all = Array.from({ length: connections }, () => sendOver(port, depth, next))
  await Promise.all(all)
}

/**
 * What `sendAll` takes as `next`: returns up to `count` requests, and none after `seconds`, so that a
 * slow server gets fewer.
 */
export function upTo(count, seconds, makeRequest) {
  const deadline = performance.now() + seconds * 1000
  let left = count
  return () => {
    if (left === 0 || performance.now() > deadline) return undefined
    left -= 1
    return makeRequest()
  }
}

/** Sends one request over a connection of its own. */
export async function sendOne(port, text) {
  let answer
  let request = { text, answered: (status, body) => (answer = { status, body }) }
  const next = () => {
    const only = request
    request = undefined
    return only
  }
  await sendOver(port, 1, next)
  return answer
}

function sendOver(port, depth, next) {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    const inFlight = []
    const read = answerReader((status, body) => inFlight.shift().answered(status, body))

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
        try {
          read(chunk)
          fill()
        } catch (error) {
          socket.destroy(error)
        }
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
 */
export function readList(port, text) {
  return new Promise((resolve, reject) => {
    let head = ''
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
            head += buffer.latin1Slice(0, length)
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

/** Splits what a connection delivers into responses. Bodies are passed on as Latin-1 text. */
export function answerReader(onAnswer) {
  let parts = []
  let length = 0
  let needed = 0
  return function read(chunk) {
    parts.push(chunk)
    length += chunk.length
    if (length < needed) return // a long body: joined once, when it is complete
    const text = Buffer.concat(parts).latin1Slice()
    let at = 0
    for (;;) {
      const bodyStart = text.indexOf('\r\n\r\n', at) + 4
      if (bodyStart === 3) {
        needed = 0
        break
      }
      const bodyEnd = bodyStart + contentLength(text.slice(at, bodyStart))
      if (bodyEnd > text.length) {
        needed = bodyEnd - at
        break
      }
      onAnswer(Number(text.slice(at + 9, at + 12)), text.slice(bodyStart, bodyEnd))
      at = bodyEnd
    }
    parts = at < text.length ? [Buffer.from(text.slice(at), 'latin1')] : []
    length = text.length - at
  }
}

function contentLength(head) {
  const found = /\r\ncontent-length: *(\d+)/i.exec(head)
  if (found) return Number(found[1])
  if (/^HTTP\/1\.1 204 /.test(head)) return 0
  throw new Error(`an answer without Content-Length: ${head}`)
}
