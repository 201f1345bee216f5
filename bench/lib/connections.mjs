/** Connections to a server: bare sockets, of which one process can have many, and which share a core with the load. */

import { connect } from 'node:net'
import { rawRequest, requests } from './client.mjs'

/** @import { Headers, RawRequest } from './client.mjs' */

/** @typedef {{ status: number, tag: string, body: string }} Answer */

/**
 * A connection with one request at a time.
 * @typedef {object} Connection
 * @property {(request: RawRequest) => Promise<Answer>} ask
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
      const [, tag = ''] = /^ETag: (\S+)/im.exec(head) ?? []
      answered({ status, tag, body: received.slice(end) })
    })
    socket.on('error', (error) => failed(error))
    socket.on('close', () => failed(new Error('the server closed the connection')))
    socket.on('connect', () => resolve({ ask, close: () => socket.destroy() }))

    /**
     * @param {RawRequest} request
     * @returns {Promise<Answer>}
     */
    function ask(request) {
      return new Promise((resolve, reject) => {
        answered = resolve
        failed = reject
        isBodiless = request.method === 'HEAD'
        received = ''
        socket.write(rawRequest(request))
      })
    }
  })
}

/** Creates wait for their answers, so there are many. */
const createConnections = 48

/**
 * Creates up to `count` items, as many as fit into `seconds`, and returns their ids.
 * @param {{ port: number, headers: Headers }} server its port, and the headers that it requires on requests
 * @param {number} count
 * @param {number} seconds
 */
export async function createItems({ port, headers }, count, seconds) {
  const deadline = performance.now() + seconds * 1000
  const connections = await openConnections(port, createConnections)
  /** @type {string[]} */
  const ids = []
  let left = count
  /** @param {Connection} connection */
  const createOver = async ({ ask, close }) => {
    for (; left > 0 && performance.now() < deadline; ) {
      left -= 1
      const { status, body } = await ask({ ...requests.create(), headers })
      if (status !== 201) throw new Error(`a create was answered ${status}`)
      ids.push(/"id":\s*"([0-9a-f-]{36})"/.exec(body)?.[1] ?? '')
    }
    close()
  }
  await Promise.all(connections.map(createOver))
  return ids
}
