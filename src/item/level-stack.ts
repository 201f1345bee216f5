/** A stack of bits that grows in parts, so that no large array has to be copied when nesting is deep. @module */

export const wordLevels = 32

const partWords = 4096

export class LevelStack {
  readonly #parts: Int32Array[] = []
  #words = 0

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
    return this.#parts[(this.#words - place) / partWords]?.[place] as number // `push` has written this word
  }

  clear(): void {
    this.#words = 0
  }
}
