/**
 * The workloads that the sides are compared on. Of each: the number of items in the store at its
 * start, the connections of the load, and its requests, which are sent in rotation.
 */

export const workloads = [
  small('read', 'read one item', ({ read }, id) => [read(id)]),
  small('create', 'create', (side) => [side.create()]),
  small('replace', 'replace', ({ replace }, id) => [replace(id)]),
  small('delete', 'delete', (side) => [side.delete()]),
  list(100),
  list(10_000),
  list(100_000),
  {
    ...small('new-token', 'read, each with a new token', ({ read }, id) => [
      { ...read(id), lines: 'token' },
    ]),
    needsToken: true,
  },
  small('mixed', 'mixed: 4 reads, 1 create', ({ read, create }, id) => [
    ...Array(4).fill(read(id)),
    create(),
  ]),
]

function small(name, title, requests) {
  return { name, title, requests, items: 1000, connections: 32 }
}

function list(items) {
  return {
    name: `list-${items}`,
    title: `list ${items.toLocaleString('en')}`,
    requests: (side) => [side.list()],
    items,
    connections: 4,
    isList: true,
  }
}
