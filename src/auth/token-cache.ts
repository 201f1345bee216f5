/** Caches verified tokens. @module */

import type { TokenPayload } from '../interface/models.js'

/** The claims that are kept of a verified token: not `iat`, because nothing depends on it. */
export type VerifiedToken = Pick<TokenPayload, 'sub' | 'exp'>

/** Maximum number of cached tokens. */
const maxCached = 10_000

/** Maximum length of a cached token, in characters; this limits the cache to 50 MB. */
const maxCachedLength = 2_000

/**
 * Claims of verified tokens, by the complete token. When the cache is full, its older half is dropped:
 * evicting the oldest token each time would search the map for it (bench/CHOICES.md).
 */
export class TokenCache {
  #newer = new Map<string, VerifiedToken>()
  #older = new Map<string, VerifiedToken>()

  get(token: string): VerifiedToken | undefined {
    return this.#newer.get(token) ?? this.#older.get(token)
  }

  /** Only for accepted tokens, so that forged ones cannot fill the cache. */
  add(token: string, claims: VerifiedToken): void {
    if (token.length > maxCachedLength) return
    if (this.#newer.size === maxCached / 2) {
      this.#older = this.#newer
      this.#newer = new Map()
    }
    this.#newer.set(token, claims)
  }
}
