/**
 * The service's interface as the load uses it, for the sides that serve it. `lines` tells what
 * replaces `anyId` in the path or body of each request: an id that exists and is to be used once
 * (`existing`), or one that was never used (`unused`).
 */

import { rawRequest, sendAll, upTo } from '../lib/client.mjs'
import { anyId, requestText } from '../lib/item.mjs'

const items = '/api/v1/items'

export const interfaceRequests = {
  read: (id) => ({ method: 'GET', path: `${items}/${id}`, status: 200 }),
  create: () => ({ method: 'POST', path: items, body: requestText(), status: 201 }),
  replace: (id) => ({ method: 'PUT', path: `${items}/${id}`, body: requestText(), status: 200 }),
  delete: () => ({ method: 'DELETE', path: `${items}/${anyId}`, status: 204, lines: 'existing' }),
  list: () => ({ method: 'GET', path: items, status: 200 }),
}

/**
 * Creates up to `count` items over HTTP, as many as fit into `seconds`, and returns their ids.
 * @param server its port, and the headers that it requires on requests.
 */
export async function createItems({ port, headers }, count, seconds) {
  const text = rawRequest({ ...interfaceRequests.create(), headers })
  const ids = []
  const answered = (status, body) => ids.push(createdId(status, body))
  await sendAll({ port, depth: 4, next: upTo(count, seconds, () => ({ text, answered })) })
  return ids
}

/** The id in the response to a create. */
export function createdId(status, body) {
  const id = /"id":\s*"([0-9a-f-]{36})"/.exec(body)?.[1]
  if (status !== 201 || id === undefined) throw new Error(`a create was answered ${status} ${body}`)
  return id
}
