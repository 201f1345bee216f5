/** The text of an item request: what a create or replace sends. @module */

import { wrong } from './item-store-error.js'

/**
 * @param data the JSON text of an object.
 * @param projectId if left out, that of the data, in which the service would drop it.
 * @throws {TypeError} for half a character.
 */
export function itemRequestText(data: string, projectId: unknown = projectIn(data)): string {
  // A lone surrogate cannot be encoded in UTF-8, and `fetch` would replace it.
  if (/\p{Surrogate}/u.test(data)) throw wrong('data has a lone surrogate; write it as \\uXXXX')
  const project = projectId == null ? '' : `,"project_id":${JSON.stringify(projectId)}`
  return `{"data":${data}${project}}`
}

/** The `project_id` in the JSON text of an item, however the name is escaped; `undefined` if there is none. */
export function projectIn(text: string): string | null | undefined {
  return /"project_id"|\\u00/.test(text) ? JSON.parse(text)?.project_id : undefined
}
