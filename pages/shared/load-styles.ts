/** Loads styles that the first view of a page does not need. @module */

/** @throws {Event} if the styles cannot be loaded. */
export function loadStyles(url: URL): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const link = document.createElement('link')
    link.rel = 'stylesheet'
    link.href = url.href
    link.onload = resolve
    link.onerror = reject
    document.head.append(link)
  })
}
