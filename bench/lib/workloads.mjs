/** The workloads that the sides are compared on. */

/** @import { requests } from './client.mjs' */

/** @typedef {keyof typeof requests} Kind the kind of a request */

/**
 * @typedef {object} Workload
 * @property {string} name
 * @property {string} title
 * @property {Kind[]} kinds of the requests, which are sent in rotation
 * @property {number} items in the store at its start
 * @property {number} connections of the load
 * @property {boolean} [isList]
 * @property {boolean} [withNewTokens] whether each request has a token that was never used
 * @property {number} [pipelined] requests that a connection sends in one piece
 * @property {boolean} [isOpen] whether its latency is measured too, with requests sent at an even rate
 */

/** @type {Workload[]} */
export const workloads = [
  { ...small('read', 'read one item', ['read']), isOpen: true },
  { ...small('read-alone', 'read over one connection', ['read']), connections: 1 },
  { ...small('create', 'create', ['create']), isOpen: true },
  {
    ...small('create-pipelined', 'create, 16 pipelined', ['create']),
    connections: 16,
    pipelined: 16,
  },
  { ...small('replace', 'replace', ['replace']), isOpen: true },
  small('delete', 'delete', ['delete']),
  list(100),
  list(10_000),
  list(100_000),
  { ...small('new-token', 'read, each with a new token', ['read']), withNewTokens: true },
  {
    ...small('mixed', 'mixed: 4 reads, 1 create', ['read', 'read', 'read', 'read', 'create']),
    isOpen: true,
  },
]

/**
 * @param {string} name
 * @param {string} title
 * @param {Kind[]} kinds
 */
function small(name, title, kinds) {
  return { name, title, kinds, items: 1000, connections: 32 }
}

/**
 * @param {number} items
 * @returns {Workload}
 */
function list(items) {
  const title = `list ${items.toLocaleString('en')}`
  return { name: `list-${items}`, title, kinds: ['list'], items, connections: 4, isList: true }
}
