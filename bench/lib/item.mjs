/** The items of all workloads: an item's JSON text, including id and project_id, is 250 bytes long. */

export const itemBytes = 250

/** As long as an id. A placeholder where each request has an id (or a token) of its own. */
export const anyId = '00000000-this-this-this-000000000000'

const members = {
  name: 'Ladder, aluminium, 12 rungs',
  price: 129.9,
  stock: 1042,
  active: true,
  tags: ['garden', 'house'],
  note: '',
}

/**
 * The members of an item of `bytes` bytes.
 * @param bytes at least 200.
 */
export function dataOf(bytes = itemBytes) {
  const missing = bytes - JSON.stringify({ id: anyId, project_id: 'bench', ...members }).length
  return { ...members, note: 'The quick brown fox. '.repeat(50).slice(0, missing) }
}

/** An item as it is stored and sent back. */
export function itemText(id, bytes = itemBytes) {
  return JSON.stringify({ id, project_id: 'bench', ...dataOf(bytes) })
}

/** The body that creates such an item, or replaces another with it. */
export function requestText(bytes = itemBytes) {
  return JSON.stringify({ data: dataOf(bytes), project_id: 'bench' })
}
