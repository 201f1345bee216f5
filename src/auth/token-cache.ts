/** Caches verified tokens. @module */

import type { TokenPayload } from '../interface/models.js'

/** The claims that are kept of a verified token: not `iat`, because nothing depends on it. */
export type VerifiedToken = Pick<TokenPayload, 'sub' | 'exp'>

/** Maximum size of the cache, in bytes: enough for 20,000 tokens of 170 characters. */
const maxBytes = 8 * 1024 * 1024

/** Size of an entry besides the characters of its token and of `sub`, in bytes. */
const entryBytes = 200

/**
 * Claims of verified tokens, by the complete token. When the cache is full, its older half is dropped:
 * evicting the oldest token each time would search the map for it (bench/CHOICES.md).
 */
export class TokenCache {
  #newer = new Map<string, VerifiedToken>()
  #older = new Map<string, VerifiedToken>()
  /** Size of the newer half. */
  #bytes = 0

  get(token: string): VerifiedToken | undefined {
    return this.#newer.get(token) ?? this.#older.get(token)
  }

  /** Only for accepted tokens, so that forged ones cannot fill the cache. */
  add(token: string, claims: VerifiedToken): void {
    const bytes = entryBytes + token.length + 2 * claims.sub.length // up to two bytes for a character
    if (this.#bytes + bytes > maxBytes / 2) {
      this.#older = this.#newer
      this.#newer = new Map()
      this.#bytes = 0
    }
    this.#bytes += bytes
    this.#newer.set(copied(token), claims)
  }
}

/** The same text in memory of its own: V8 makes a part of a string refer to the whole, here a header of up to 16 KiB. */
function copied(token: string): string {
  return Buffer.from(token, 'latin1').toString('latin1') // tokens are ASCII
}
