/** URLs of the service, even behind a proxy that adds a prefix to its paths. @module */

/** @param path such as `/docs`. All pages are at the top level, so a relative path leads from each to any other. */
export function urlOf(path: string): string {
  return new URL(`.${path}`, location.href).href
}
