/** The paths of the endpoints (spec §4), of the document that describes them, and of the pages. @module */

/** All endpoints are served under this prefix (spec §9.1). */
export const prefix = '/api/v1'

/** Relative to the prefix; a name in braces stands for any one segment. */
export const paths = {
  health: '/health',
  items: '/items',
  item: '/items/{item_id}',
} as const

/** The OpenAPI document: not an endpoint, and therefore without the prefix. */
export const documentPath = '/openapi.json'

/** The pages (interface §4.8), the files that they load, the index of the documents, and one that is in no folder. */
export const pagePaths = {
  docs: '/docs',
  items: '/',
  asset: '/assets/{name}',
  index: '/llms.txt',
  security: '/SECURITY.md',
} as const

/** The folders of the documents (interface §4.8), as in the package. */
export const documentFolders = ['/docs', '/docs/how-to', '/docs/reference'] as const

/** The path of an item, prefix included. */
export function itemPath(id: string): string {
  return `${prefix}${paths.items}/${id}`
}
