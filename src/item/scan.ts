/** Reads texts that are complete with a {@link JsonChecker}, and tells where in a text something is. @module */

import { JsonChecker } from './json-checker.js'
import { lineFeed, type Visit } from './json-syntax.js'

/**
 * Scans a complete JSON text.
 * @param levels how many levels of objects to visit; 1 means the outermost only.
 * @returns where the value starts.
 * @throws {JsonSyntaxError} if the text is not JSON.
 */
export function scanText(text: Uint8Array, levels: number, visit: Visit): number {
  const scanner = new JsonChecker(levels, visit)
  scanner.read(text, 0, true)
  return scanner.start
}

/** A place in a text: line and column, both counted from 1, columns in characters. */
export class Place {
  #line = 1
  #column = 1

  /** Moves on by some of the text. */
  pass(bytes: Uint8Array): void {
    for (const byte of bytes) {
      // A character counts with its first byte; all others are 10xxxxxx (RFC 3629 §3).
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

/** Line and column of a byte. */
export function positionOf(text: Uint8Array, offset: number): string {
  const place = new Place()
  place.pass(text.subarray(0, offset))
  return place.toString()
}
