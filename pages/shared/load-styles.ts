/** Loads styles that the first view of a page does not need. @module */

const loads = new Map<string, Promise<unknown>>()

/** Loads each style sheet once. After an error, the next call tries again. @throws {Event} if loading fails. */
export function loadStyles({ href }: URL): Promise<unknown> {
  const known = loads.get(href)
  if (known) return known
  const load = new Promise((resolve, reject) => {
    const link = document.createElement('link')
    link.rel = 'stylesheet'
    link.href = href
    link.onload = resolve
    link.onerror = reject
    document.head.append(link)
  })
  loads.set(href, load)
  load.catch(() => loads.delete(href))
  return load
}
