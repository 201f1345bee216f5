/** Reads and writes the browser's storage, which may be disabled. @module */

type Place = 'localStorage' | 'sessionStorage'

export function stored(place: Place, key: string): string | undefined {
  try {
    return window[place].getItem(key) ?? undefined
  } catch {
    return undefined
  }
}

export function store(place: Place, key: string, text: string): void {
  try {
    window[place].setItem(key, text)
  } catch {
    // The storage is disabled or full. The page works without it.
  }
}
