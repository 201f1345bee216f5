/** Loads styles that the first view of a page does not need. @module */

const loaded = new Set<string>()

/** Loads each file once. The next call after an error tries again. @throws {Event} if the styles cannot be loaded. */
export async function loadStyles({ href }: URL): Promise<void> {
  if (loaded.has(href)) return
  await new Promise((resolve, reject) => {
    const link = document.createElement('link')
    link.rel = 'stylesheet'
    link.href = href
    link.onload = resolve
    link.onerror = reject
    document.head.append(link)
  })
  loaded.add(href)
}
