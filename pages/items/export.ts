/** Writes all items into a file, as they come from the service. @module */

import type { ItemService } from './service.js'

/**
 * A JSON array of the items' own texts, one a line. Parts of it are given to the browser as they come in,
 * which keeps them where it has room.
 */
export async function exportItems(service: ItemService, signal: AbortSignal): Promise<Blob> {
  const parts: (Blob | string)[] = ['[']
  let separator = '\n'
  for await (const texts of service.list(signal)) {
    if (texts.length === 0) continue
    parts.push(new Blob([separator, texts.join(',\n')]))
    separator = ',\n'
  }
  return new Blob([...parts, '\n]\n'], { type: 'application/json' })
}

/** Has the browser save a file. */
export function download(file: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(file)
  link.download = name
  link.click()
  // The browser has the file once the click is over; a large one may take it a while.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
