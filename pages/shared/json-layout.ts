/** Makes JSON text readable by white space alone. @module */

import { JsonScanner } from '../../src/client/json-scanner.js'

/** Deeper levels are indented no further: otherwise the result could be many times as long. */
const deepest = 40

/**
 * The same text with line breaks and indentation between its tokens. Each token stays as it was written:
 * nothing is parsed, so numbers keep their digits and members their order. The text may end anywhere.
 */
export function layOut(text: string): string {
  const scanner = new JsonScanner()
  let laidOut = ''
  /** White space to come before the next token. */
  let space = ''
  const write = (token: string) => {
    if (token === '') return
    laidOut += space + token
    space = ''
  }
  const newLine = () => `\n${'  '.repeat(Math.min(Math.max(scanner.depth, 0), deepest))}`

  let done = 0
  let last: string | undefined
  for (;;) {
    const { isInString } = scanner
    const sign = scanner.next(text)
    const before = text.slice(done, sign ? scanner.at : undefined)
    if (before !== '') write(isInString ? before : before.replaceAll(/[ \t\n\r]+/g, ''))
    if (!sign) return laidOut
    done = scanner.at + 1
    if (sign === '}' || sign === ']') {
      const isEmpty = (last === '{' || last === '[') && before.trim() === ''
      space = isEmpty ? '' : newLine()
    }
    write(sign)
    if (sign === '{' || sign === '[' || sign === ',') space = newLine()
    if (sign === ':') space = ' '
    last = sign
  }
}
