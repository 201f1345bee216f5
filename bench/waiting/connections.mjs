/** Connections that read, and may wait: bare sockets, of which one process can have many. */

import { connect } from 'node:net'
import { rawRequest } from '../lib/client.mjs'

/** @import { Headers } from '../lib/client.mjs' */

/** @typedef {{ method: string, path: string, headers: Headers }} Read of one item, or only of a head */
/** @typedef {{ status: number, tag: string }} Answer */

/**
 * A connection with one request at a time.
 * @typedef {object} Connection
 * @property {(read: Read) => Promise<Answer>} ask
 * @property {() => void} close
 */

/** So many are opened at a time, as the queue of a listening socket is short. */
const openedAtOnce = 100

/**
 * @param {number} port
 * @param {number} count
 */
export async function openConnections(port, count) {
  /** @type {Connection[]} */
  const connections = []
  while (connections.length < count) {
    const length = Math.min(openedAtOnce, count - connections.length)
    connections.push(...(await Promise.all(Array.from({ length }, () => openConnection(port)))))
  }
  return connections
}

/**
 * @param {number} port
 * @returns {Promise<Connection>}
 */
function openConnection(port) {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true }).setEncoding('latin1')
    let received = ''
    let isBodiless = false
    /** @type {(answer: Answer) => void} */
    let answered = () => {}
    let failed = reject

    socket.on('data', (chunk) => {
      received += chunk
      const end = received.indexOf('\r\n\r\n') + 4
      if (end < 4) return
      const head = received.slice(0, end)
      const status = Number(head.slice('HTTP/1.1 '.length, 12))
      const length = Number(/^Content-Length: (\d+)/im.exec(head)?.[1] ?? 0)
      if (received.length < end + (isBodiless || status === 304 ? 0 : length)) return
      received = ''
      answered({ status, tag: /^ETag: (\S+)/im.exec(head)?.[1] ?? '' })
    })
    socket.on('error', (error) => failed(error))
    socket.on('close', () => failed(new Error('the server closed the connection')))
    socket.on('connect', () => resolve({ ask, close: () => socket.destroy() }))

    /**
     * @param {Read} read
     * @returns {Promise<Answer>}
     */
    function ask(read) {
      return new Promise((resolve, reject) => {
        answered = resolve
        failed = reject
        isBodiless = read.method === 'HEAD'
        socket.write(rawRequest(read))
      })
    }
  })
}
