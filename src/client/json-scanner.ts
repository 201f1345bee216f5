/** Finds the brackets, braces, commas, colons and strings in JSON text. @module */

const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const backslash = 0x5c
const openBrace = 0x7b
const closeBrace = 0x7d

/** Finds delimiters in valid JSON text that arrives in parts. A part may end anywhere, even inside an escape. */
export class JsonScanner {
  at = -1
  depth = 0
  isInString = false

  /** Returns the next delimiter; `undefined` if this part of the text has no more. */
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
    this.at = at - 1 - text.length // position relative to the next part
    return undefined
  }
}
