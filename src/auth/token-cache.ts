/** Remembers verified tokens, so that each is verified once. @module */

import type { TokenPayload } from '../interface/models.js'

/** The claims of an accepted token that are kept: not `iat`, because nothing depends on it. */
export type VerifiedToken = Pick<TokenPayload, 'sub' | 'exp'>

/** Maximum number of cached tokens. */
const maxCached = 10_000

/** Maximum length of a cached token, in characters; this limits the cache to 50 MB. */
const maxCachedLength = 2_000

/**
 * Claims of verified tokens by the complete token. Once it is full, the older half is dropped: taking
 * out the oldest one each time would search the map for it (bench/CHOICES.md).
 */
export class TokenCache {
  #newer = new Map<string, VerifiedToken>()
  #older = new Map<string, VerifiedToken>()

  get(token: string): VerifiedToken | undefined {
    return this.#newer.get(token) ?? this.#older.get(token)
  }

  /** Only for tokens that were accepted, so that forged ones cannot fill it. */
  add(token: string, claims: VerifiedToken): void {
    if (token.length > maxCachedLength) return
    if (this.#newer.size === maxCached / 2) {
      this.#older = this.#newer
      this.#newer = new Map()
    }
    this.#newer.set(token, claims)
  }
}
