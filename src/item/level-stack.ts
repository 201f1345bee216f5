/**
 * The levels of nesting in a text, a bit each: 1 for an object, 0 for an array. They are kept in parts outside
 * of the JavaScript heap, so that a deep text never has to be moved.
 *
 * @module
 */

/** Levels in a word, the innermost last. */
export const wordLevels = 32

/** Words in a part. */
const partWords = 4096

export class LevelStack {
  readonly #parts: Int32Array[] = []
  #words = 0

  /** Memory that it takes, in bytes. */
  get byteLength(): number {
    return this.#parts.length * partWords * Int32Array.BYTES_PER_ELEMENT
  }

  push(word: number): void {
    const place = this.#words % partWords
    const number = (this.#words - place) / partWords
    let part = this.#parts[number]
    if (part === undefined) {
      part = new Int32Array(partWords)
      this.#parts.push(part)
    }
    part[place] = word
    this.#words += 1
  }

  pop(): number {
    this.#words -= 1
    const place = this.#words % partWords
    return this.#parts[(this.#words - place) / partWords]?.[place] as number // it was put there
  }

  /** Forgets all levels, and keeps the memory. */
  clear(): void {
    this.#words = 0
  }
}
