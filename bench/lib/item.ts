/** Items for all workloads. The JSON text of an item is 250 bytes long, including `id` and `project_id`. */

export const itemBytes = 250

/** Placeholder for an id or token that is different in each request. The placeholder is as long as an id. */
export const anyId = '00000000-0000-0000-0000-000000000000'

const members = {
  name: 'Ladder, aluminium, 12 rungs',
  price: 129.9,
  stock: 1042,
  active: true,
  tags: ['garden', 'house'],
  note: '',
}
const missing = itemBytes - itemText(anyId).length
members.note = 'The quick brown fox. '.repeat(5).slice(0, missing)

/** Returns the JSON text of an item as it is stored and sent back. */
export function itemText(id: string) {
  return JSON.stringify({ id, project_id: 'bench', ...members })
}

/** Returns the body of a create or replace. */
export function requestText() {
  return JSON.stringify({ data: members, project_id: 'bench' })
}
