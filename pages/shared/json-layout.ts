/** Indents JSON text without changing its tokens. @module */

import { JsonScanner } from '../../src/client/json-scanner.js'

const deepest = 40 // levels to indent; with more, the text could become many times as long

/** Adds line breaks and indentation between tokens. The text may be cut off anywhere. */
export function layOut(text: string): string {
  const scanner = new JsonScanner()
  let laidOut = ''
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
