/** Checks a complete JSON text, and converts positions in a text to lines and columns. @module */

import { JsonChecker } from './json-checker.js'
import { lineFeed, type Visit } from './json-syntax.js'

/** Checks a complete JSON text. @throws {JsonSyntaxError} */
export function scanText(text: Uint8Array, levels: number, visit: Visit): void {
  new JsonChecker(levels, visit).read(text, 0, true)
}

/** Line and column of a position, both counted from 1. Columns count characters, not bytes. */
export class LineColumn {
  #line = 1
  #column = 1

  pass(bytes: Uint8Array): void {
    for (const byte of bytes) {
      // All bytes of a UTF-8 character except the first are 10xxxxxx in binary (RFC 3629 §3).
      if (byte >> 6 !== 0b10) this.#column += 1
      if (byte === lineFeed) {
        this.#line += 1
        this.#column = 1
      }
    }
  }

  toString(): string {
    return `line ${this.#line}, column ${this.#column}`
  }
}

export function positionOf(text: Uint8Array, offset: number): string {
  const position = new LineColumn()
  position.pass(text.subarray(0, offset))
  return position.toString()
}
