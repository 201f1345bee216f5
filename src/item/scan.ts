/** Checks a complete JSON text, and converts positions in a text to lines and columns. @module */

import { JsonChecker } from './json-checker.js'
import { lineFeed, type Visit } from './json-syntax.js'

/**
 * Checks a complete JSON text.
 * @param levels number of levels of nested objects to visit; 1 means only the outermost object.
 * @returns position of the value, after any white space.
 * @throws {JsonSyntaxError} if the text is not JSON.
 */
export function scanText(text: Uint8Array, levels: number, visit: Visit): number {
  const scanner = new JsonChecker(levels, visit)
  scanner.read(text, 0, true)
  return scanner.start
}

/** Line and column of a position in a text, counted from 1. Columns are counted in characters. */
export class Place {
  #line = 1
  #column = 1

  /** Moves the position to the end of the next part of the text. */
  pass(bytes: Uint8Array): void {
    for (const byte of bytes) {
      // Only the first byte of a character is counted. All later bytes are 10xxxxxx (RFC 3629 §3).
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

/** Returns the line and column of a byte in a text, as in "line 1, column 2". */
export function positionOf(text: Uint8Array, offset: number): string {
  const place = new Place()
  place.pass(text.subarray(0, offset))
  return place.toString()
}
