/** The workloads under which the benchmark `compare` measures all sides. */

import type { requests } from './client.js'

type Kind = keyof typeof requests

export interface Workload {
  name: string
  title: string
  kinds: Kind[] // kinds of requests, which are sent in rotation
  items: number // initial number of items in the store
  connections: number
  isList?: boolean
  withNewTokens?: boolean // whether each request has a new token
}

export const workloads: Workload[] = [
  small('read', 'read one item', ['read']),
  small('read-alone', 'read over one connection', ['read'], { connections: 1 }),
  small('create', 'create', ['create']),
  small('replace', 'replace', ['replace']),
  small('delete', 'delete', ['delete']),
  list(100),
  list(10_000),
  list(100_000),
  small('new-token', 'read, each with a new token', ['read'], { withNewTokens: true }),
  small('mixed', 'mixed: 4 reads, 1 create', ['read', 'read', 'read', 'read', 'create']),
]

function small(name: string, title: string, kinds: Kind[], more: Partial<Workload> = {}): Workload {
  return { name, title, kinds, items: 1000, connections: 32, ...more }
}

function list(items: number): Workload {
  const title = `list ${items.toLocaleString('en')}`
  return { name: `list-${items}`, title, kinds: ['list'], items, connections: 4, isList: true }
}
