/** Reads and writes the browser's storage, which may be disabled or contain anything. @module */

import { membersIn } from '../../src/client/item-store-error.js'

type Place = 'localStorage' | 'sessionStorage'
type Check<T> = (value: unknown) => value is T

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

/** Returns the members of a stored JSON object that pass their checks, and ignores all else. */
export function storedMembers<T>(
  key: string,
  checks: { readonly [K in keyof T]-?: Check<T[K]> },
): Partial<T> {
  const found: Partial<T> = {}
  const object = membersIn(stored('localStorage', key) ?? '')
  for (const name in checks) {
    const value = object[name]
    if (checks[name](value)) found[name] = value
  }
  return found
}

export const isString: Check<string> = (value) => typeof value === 'string'

export function listOf<T>(isEach: Check<T>): Check<readonly T[]> {
  return (value) => Array.isArray(value) && value.every(isEach)
}
