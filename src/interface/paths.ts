/** The paths of the endpoints (spec §4). @module */

/** All endpoints are served under this prefix (spec §9.1). */
export const prefix = '/api/v1'

/** Relative to the prefix; a name in braces stands for one segment. */
export const paths = {
  health: '/health',
  items: '/items',
  item: '/items/{item_id}',
} as const

/** The path of an item, prefix included. */
export function itemPath(id: string): string {
  return `${prefix}${paths.items}/${id}`
}
