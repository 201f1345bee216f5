/** The names in a JSON text with their escapes resolved (RFC 8259 §7). @module */

const backslash = 0x5c
const digit9 = 0x39
const lowerU = 0x75

/** What the character after a backslash stands for, except `u`; others stand for themselves. */
const escapes = new Map(
  Object.entries({ b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }).map(([letter, character]) => [
    letter.charCodeAt(0),
    character.charCodeAt(0),
  ]),
)

/** A name in a valid JSON text; `start` and `end` exclude its quotes. */
export function nameOf(text: Buffer, start: number, end: number): string {
  const name = text.toString('utf8', start, end)
  return name.includes('\\') ? (JSON.parse(`"${name}"`) as string) : name // it is a valid JSON string
}

/**
 * A name or string in a valid JSON text, as UTF-8. A lone surrogate, which UTF-8 cannot encode, becomes the
 * three bytes that its bit pattern would give: names are equal exactly if these bytes are.
 * @param start the position after the opening quote.
 * @param end the position of the closing quote.
 */
export function unescapeName(text: Buffer, start: number, end: number): Buffer {
  const name = Buffer.allocUnsafe(end - start) // escapes are longer than what they stand for
  let length = 0
  for (let at = start; at < end; ) {
    const byte = text[at] as number // within the text
    if (byte !== backslash) {
      name[length++] = byte
      at += 1
    } else if (text[at + 1] !== lowerU) {
      const letter = text[at + 1] as number // every escape has one
      name[length++] = escapes.get(letter) ?? letter
      at += 2
    } else {
      let code = codeUnit(text, at + 2)
      at += 6
      if (isHigh(code) && text[at] === backslash && text[at + 1] === lowerU) {
        const low = codeUnit(text, at + 2)
        if (isLow(low)) {
          code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00)
          at += 6
        }
      }
      length = writeCodePoint(name, length, code)
    }
  }
  return name.subarray(0, length)
}

/**
 * The position after a character, or half of one, that may be an escape; after two halves that belong together.
 * @param at within a name or string in a valid JSON text.
 */
export function nextCharacter(text: Buffer, at: number): number {
  if (text[at] !== backslash) return at + 1
  if (text[at + 1] !== lowerU) return at + 2
  const isPair =
    isHigh(codeUnit(text, at + 2)) &&
    text[at + 6] === backslash &&
    text[at + 7] === lowerU &&
    isLow(codeUnit(text, at + 8))
  return isPair ? at + 12 : at + 6
}

function codeUnit(text: Buffer, start: number): number {
  let code = 0
  for (let at = start; at < start + 4; at += 1) {
    const digit = text[at] as number // every escape has four
    code = code * 16 + (digit & 0xf) + (digit > digit9 ? 9 : 0)
  }
  return code
}

function isHigh(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff
}

function isLow(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff
}

/** Writes a code point in UTF-8 (RFC 3629 §3). @returns the position after it. */
function writeCodePoint(target: Buffer, start: number, code: number): number {
  let at = start
  if (code < 0x80) {
    target[at++] = code
  } else if (code < 0x800) {
    target[at++] = 0xc0 | (code >> 6)
    target[at++] = 0x80 | (code & 0x3f)
  } else if (code < 0x10000) {
    target[at++] = 0xe0 | (code >> 12)
    target[at++] = 0x80 | ((code >> 6) & 0x3f)
    target[at++] = 0x80 | (code & 0x3f)
  } else {
    target[at++] = 0xf0 | (code >> 18)
    target[at++] = 0x80 | ((code >> 12) & 0x3f)
    target[at++] = 0x80 | ((code >> 6) & 0x3f)
    target[at++] = 0x80 | (code & 0x3f)
  }
  return at
}
