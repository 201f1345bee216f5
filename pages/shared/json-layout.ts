/** Makes JSON text readable by white space alone. @module */

/** Strings with their escapes, single signs, and everything between them, numbers for example. */
const token = /"[^"\\]*(?:\\.[^"\\]*)*"?|[{}[\],:]|[^ \t\n\r"{}[\],:]+/gs

/** Deeper levels are indented no further: otherwise the result could be many times as long. */
const deepest = 40

/**
 * The same text with line breaks and indentation between its tokens. Each token stays as it was written:
 * nothing is parsed, so numbers keep their digits and members their order. The text may end anywhere.
 */
export function layOut(text: string): string {
  let laidOut = ''
  let depth = 0
  let last = ''
  const newLine = () => `\n${'  '.repeat(Math.min(depth, deepest))}`

  for (const [part] of text.matchAll(token)) {
    const isClosing = part === '}' || part === ']'
    if (isClosing) depth = Math.max(0, depth - 1)
    const isEmpty = isClosing && (last === '{' || last === '[')
    const isFirst = last === '{' || last === '['
    if (isClosing ? !isEmpty : isFirst || last === ',') laidOut += newLine()
    laidOut += part === ':' ? ': ' : part
    if (part === '{' || part === '[') depth += 1
    last = part
  }
  return laidOut
}
