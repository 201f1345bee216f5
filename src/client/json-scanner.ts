/** Finds the brackets, braces, commas, colons and strings in JSON text. @module */

const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const backslash = 0x5c
const openBrace = 0x7b
const closeBrace = 0x7d

/**
 * Walks through JSON text from delimiter to delimiter. The delimiters are brackets, braces, commas, colons, and the two
 * quotes of each string. The text may arrive in parts that end anywhere, even inside an escape.
 *
 * The text must be valid JSON, because all other characters are skipped without a check.
 */
export class JsonScanner {
  /** Position of the latest delimiter in the current part. The search continues after it. */
  at = -1
  /** Number of objects and arrays that are open after the latest delimiter. */
  depth = 0
  /** Whether a string is open: the latest delimiter is its opening quote. */
  isInString = false

  /**
   * Returns the next delimiter; `undefined` at the end of the part. After `undefined`, the next call needs the next
   * part.
   */
  next(text: string): string | undefined {
    const { isInString } = this
    let at = this.at + 1
    for (; at < text.length; at += 1) {
      const code = text.charCodeAt(at)
      const folded = code | 0x20 // braces differ from brackets only in this bit
      if (code === quote) this.isInString = !isInString
      else if (isInString) {
        if (code === backslash) at += 1
        continue
      } else if (folded === openBrace) this.depth += 1
      else if (folded === closeBrace) this.depth -= 1
      else if (code !== comma && code !== colon) continue
      this.at = at
      return text[at]
    }
    this.at = at - 1 - text.length // relative to the next part
    return undefined
  }
}
