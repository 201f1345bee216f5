/** Scans JSON text for its structure. @module */

const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const backslash = 0x5c
const openBrace = 0x7b
const closeBrace = 0x7d

/**
 * Walks through JSON text from delimiter to delimiter: brackets, braces, commas, colons, and the two quotes
 * of each string. The text may arrive in parts that end anywhere, even inside of an escape.
 *
 * It checks nothing, so it is for text that is known to be JSON: whatever is not a delimiter is passed over.
 */
export class JsonScanner {
  /** Where the latest delimiter is in the current part; the search goes on after it. */
  at = -1
  /** How many objects and arrays are open after the latest delimiter. */
  depth = 0
  /** Whether a string is open: the latest delimiter is its opening quote. */
  isInString = false

  /** The next delimiter; `undefined` at the end of the part. From then on, it has to be given the next part. */
  next(text: string): string | undefined {
    const { isInString } = this
    let at = this.at + 1
    for (; at < text.length; at += 1) {
      const code = text.charCodeAt(at)
      const folded = code | 0x20 // the brackets of objects and arrays differ in this bit alone
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
