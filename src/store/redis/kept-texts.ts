/** Texts of buckets that were read before, so that a list reads only what has changed. @module */

/** What each kept text takes besides its bytes: its key, its version and the objects around them. */
const overhead = 400

/**
 * Keeps texts by key and version. A version is a random UUID that belongs to one content of a bucket, so a text
 * is never out of date: it is found as long as the bucket has that version.
 */
export class KeptTexts {
  readonly #texts = new Map<string, { readonly version: string; readonly text: Buffer }>()
  readonly #maxBytes: number
  #bytes = 0

  /** @param maxBytes memory that the texts may take; beyond it, further ones are not kept. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get(key: string, version: string): Buffer | undefined {
    const kept = this.#texts.get(key)
    return kept?.version === version ? kept.text : undefined
  }

  /** Keeps a text in place of another version of the same bucket. */
  keep(key: string, version: string, text: Buffer): void {
    this.#drop(key)
    const bytes = this.#bytes + text.length + overhead
    if (bytes > this.#maxBytes) return
    this.#texts.set(key, { version, text })
    this.#bytes = bytes
  }

  #drop(key: string): void {
    const kept = this.#texts.get(key)
    if (kept === undefined) return
    this.#texts.delete(key)
    this.#bytes -= kept.text.length + overhead
  }
}
