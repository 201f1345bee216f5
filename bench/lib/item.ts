/** The items in all workloads, each with 250 bytes of JSON text. */

export const itemBytes = 250

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
const note = 'The quick brown fox. '.repeat(9)
members.note = note.slice(0, missing)

export function itemText(id: string) {
  return JSON.stringify({ id, project_id: 'bench', ...members })
}

/** @param more bytes by which the item is longer than `itemBytes`, from -50 to 50 */
export function requestText(more = 0) {
  const data = { ...members, note: note.slice(0, missing + more) }
  return JSON.stringify({ data, project_id: 'bench' })
}
