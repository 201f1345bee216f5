/** Reads what was thrown, which may be anything. @module */

/** An error of the operating system: `code` names it, `ENOENT` for example. */
type SystemError = NodeJS.ErrnoException & { readonly code: string }

export function isSystemError(thrown: unknown): thrown is SystemError {
  return thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string'
}

export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}
