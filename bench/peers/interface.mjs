/** The service's interface as the load uses it, for the sides that serve it. */

import { rawRequest, sendAll } from '../lib/client.mjs'
import { anyId, requestText } from '../lib/item.mjs'

/** @import { Headers, Request } from '../lib/client.mjs' */

const items = '/api/v1/items'

export const interfaceRequests = {
  /** @type {(id: string) => Request} */
  read: (id) => ({ method: 'GET', path: `${items}/${id}` }),
  /** @type {() => Request} */
  create: () => ({ method: 'POST', path: items, body: requestText() }),
  /** @type {(id: string) => Request} */
  replace: (id) => ({ method: 'PUT', path: `${items}/${id}`, body: requestText() }),
  /** @type {() => Request} */
  delete: () => ({ method: 'DELETE', path: `${items}/${anyId}`, once: 'existing id' }),
  /** @type {() => Request} */
  list: () => ({ method: 'GET', path: items }),
}

/**
 * Creates up to `count` items over HTTP, as many as fit into `seconds`, and returns their ids.
 * @param {{ port: number, headers: Headers }} server its port, and the headers that it requires on requests
 * @param {number} count
 * @param {number} seconds
 */
export async function createItems({ port, headers }, count, seconds) {
  const text = rawRequest({ ...interfaceRequests.create(), headers })
  /** @type {string[]} */
  const ids = []
  /** @type {(status: number, body: string) => void} */
  const answered = (status, body) => ids.push(createdId(status, body.slice(0, 1000)))
  await sendAll(port, { connections: 16, depth: 4, count, seconds }, () => ({ text, answered }))
  return ids
}

/**
 * The id in the response to a create.
 * @param {number} status
 * @param {string} body
 */
function createdId(status, body) {
  const id = /"id":\s*"([0-9a-f-]{36})"/.exec(body)?.[1]
  if (status !== 201 || id === undefined) throw new Error(`a create was answered ${status} ${body}`)
  return id
}
