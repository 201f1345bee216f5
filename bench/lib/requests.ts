/** The items in all workloads, each with 250 bytes of JSON text, and the requests for them. */

export const itemBytes = 250
export const initialItems = 1000 // in each store that is compared

const members = {
  name: 'Ladder, aluminium, 12 rungs',
  price: 129.9,
  stock: 1042,
  active: true,
  tags: ['garden', 'house'],
  note: '',
}
const missing = itemBytes - itemText('00000000-0000-0000-0000-000000000000').length
const note = 'The quick brown fox. '.repeat(9)
members.note = note.slice(0, missing)

export function itemText(id: string) {
  return JSON.stringify({ id, project_id: 'bench', ...members })
}

export interface Request {
  method: string
  path: string
  body?: string
  headers?: Record<string, string>
}

/** Requests with the paths of the interface, to which `addressed` adds the rest. */
export const requests = {
  health: { method: 'GET', path: '/health' },
  list: { method: 'GET', path: '/items' },
  read: (id: string) => ({ method: 'GET', path: `/items/${id}` }),
  create: (more = 0) => ({ method: 'POST', path: '/items', body: bodyOf(more) }),
  replace: (id: string, more = 0) => ({ method: 'PUT', path: `/items/${id}`, body: bodyOf(more) }),
  remove: (id: string) => ({ method: 'DELETE', path: `/items/${id}` }),
}

/** @param more bytes by which the item is longer than `itemBytes`, from -50 to 50 */
function bodyOf(more: number) {
  const data = { ...members, note: note.slice(0, missing + more) }
  return JSON.stringify({ data, project_id: 'bench' })
}

export interface Server {
  port: number
  prefix: string // of the paths
  headers: { Authorization: string }
}

/** Returns a request with the server's path prefix and token, and the type of its body. */
export function addressed({ prefix, headers }: Server, { body, ...request }: Request): Request {
  const type = body === undefined ? {} : { body, headers: { 'Content-Type': 'application/json' } }
  const all = { Host: '127.0.0.1', ...headers, ...request.headers, ...type.headers }
  return { ...request, ...type, path: prefix + request.path, headers: all }
}
