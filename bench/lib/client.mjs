/** The requests of the load, and a client that creates items: on bare sockets, as it shares a core with the load. */

import { connect } from 'node:net'
import { anyId, requestText } from './item.mjs'

/**
 * What to request. `once` names what takes the place of `anyId` (or of the token), each used by one
 * request only: the ids of items that exist, or tokens.
 * @typedef {object} Request
 * @property {string} method
 * @property {string} path
 * @property {string} [body]
 * @property {'id' | 'token'} [once]
 */

/** @typedef {Record<string, string>} Headers */

const items = '/api/v1/items'

/** The requests by their kind; `id` is that of an item. */
export const requests = {
  /** @type {(id: string) => Request} */
  read: (id) => ({ method: 'GET', path: `${items}/${id}` }),
  /** @type {() => Request} */
  create: () => ({ method: 'POST', path: items, body: requestText() }),
  /** @type {(id: string) => Request} */
  replace: (id) => ({ method: 'PUT', path: `${items}/${id}`, body: requestText() }),
  /** @type {() => Request} */
  delete: () => ({ method: 'DELETE', path: `${items}/${anyId}`, once: 'id' }),
  /** @type {() => Request} */
  list: () => ({ method: 'GET', path: items }),
}

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
 * Creates up to `count` items, as many as fit into `seconds`, and returns their ids.
 * @param {{ port: number, headers: Headers }} server its port, and the headers that it requires on requests
 * @param {number} count
 * @param {number} seconds
 */
export async function createItems({ port, headers }, count, seconds) {
  const request = rawRequest({ ...requests.create(), headers })
  const deadline = performance.now() + seconds * 1000
  /** @type {string[]} */
  const ids = []
  let left = count
  const takeNext = () => {
    if (left === 0 || performance.now() > deadline) return false
    left -= 1
    return true
  }
  const connections = Array.from({ length: 16 }, () => createOver(port, request, takeNext, ids))
  await Promise.all(connections)
  return ids
}

/**
 * Creates items over one connection, with a few requests in flight.
 * @param {number} port
 * @param {string} request
 * @param {() => boolean} takeNext whether another one is to be sent
 * @param {string[]} ids to which those of the items are added
 * @returns {Promise<void>}
 */
function createOver(port, request, takeNext, ids) {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true }).setEncoding('latin1')
    let inFlight = 0
    let unread = ''

    function send() {
      while (inFlight < 4 && takeNext()) {
        inFlight += 1
        socket.write(request)
      }
      if (inFlight === 0) socket.end()
    }

    /** @param {string} chunk */
    function read(chunk) {
      unread += chunk
      const [refused] = /HTTP\/1\.1 (?!201)\d{3}.*/.exec(unread) ?? []
      if (refused) socket.destroy(new Error(`a create was answered ${refused}`))
      const created = [...unread.matchAll(/"id":\s*"([0-9a-f-]{36})"/g)]
      for (const [, id = ''] of created) ids.push(id)
      inFlight -= created.length
      const last = created.at(-1)
      if (last) unread = unread.slice(last.index + last[0].length)
      send()
    }

    socket.on('connect', send).on('data', read).on('error', reject)
    socket.on('close', () => {
      if (inFlight > 0) reject(new Error('the server closed the connection'))
      resolve()
    })
  })
}
