/** Finds regular expressions that need more than linear time for a text that is made to be slow. */

import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { readText, root } from './tools.js'

/** CPU time in ms that 16 to 32 KB of input may take. Linear work takes less than 5 ms, quadratic work more than 100 ms. */
export const longest = 40

export function sourcesIn(folder: string) {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /(?<!\.test)\.tsx?$/.test(file))
    .map((file) => ({ file, text: readText(join(folder, file)) }))
}

/** Returns the CPU time of a call in ms, the least of three if the first takes long, in case the machine is busy. */
export async function timeOf(act: () => unknown): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (let turn = 0; turn < 3 && least > longest; turn += 1) {
    const before = process.cpuUsage()
    await act()
    const { user, system } = process.cpuUsage(before)
    least = Math.min(least, (user + system) / 1000)
  }
  return least
}

const literal =
  /(?<=(?:^|[=(,:?!&|[{};>]|return)\s*)\/(?![*/])((?:[^\\/[\n]|\\.|\[(?:[^\\\]\n]|\\.)*\])+)\/([dgimsuvy]*)/gm

export const characters = [...' \t\n,;="\'`\\/%.:@#-+09aA[{(<&é']

/** Yields texts of any length that an expression may read slowly: a start that matches, a repeated part and a bad end. */
function* attacksOn(source: string): Generator<(length: number) => string> {
  const inClasses = source.match(/(?<=\[)(?:[^\\\]]|\\.)*(?=\])/g) ?? []
  const words = source
    .replaceAll(
      /\\[wsdbp](?:\{[^}]*\})?|\[(?:[^\\\]]|\\.)*\]|\(\?(?:<?[=!:]|<\w+>)|\{[\d,]+\}|[()^$*+?|]/gi,
      '\0',
    )
    .replaceAll(/\\(.)/g, '$1')
    .split('\0')
    .filter((word) => word !== '')
  const openings = words.map((_, place) => words.slice(0, place + 1).join(''))
  const starts = new Set(['', ...[...words, ...openings].flatMap((word) => [word, `${word}a`])])
  const repeated = [...words, ...words.flatMap((word) => [`${word} `, `${word}a`])]
  for (const part of new Set([...characters, ...inClasses.join(''), ...repeated])) {
    for (const start of starts) {
      for (const end of ['', '\0', '"', '!\n']) {
        yield (length) => start + part.repeat(length / part.length) + end
      }
    }
  }
}

/** Runs every regular expression of the sources in a folder on texts made from its own parts. */
export async function assertLinear(folder: string, least: number): Promise<void> {
  const slow: string[] = []
  let count = 0
  for (const { file, text } of sourcesIn(folder)) {
    for (const [whole, source = '', flags] of text.matchAll(literal)) {
      if (source.includes('`')) continue // a slash in a template string
      const expression = new RegExp(source, flags)
      const match = (input: string) => {
        expression.lastIndex = 0
        if (expression.sticky) expression.exec(input)
        else input.split(expression)
      }
      count += 1
      for (const attack of attacksOn(source)) {
        const start = performance.now()
        match(attack(2_000))
        if (performance.now() - start < 0.5) continue // a quadratic expression takes 1 to 4 ms
        const time = await timeOf(() => match(attack(32_000)))
        if (time > longest) slow.push(`${file}: ${whole} takes ${time} ms`)
        if (time > longest) break
      }
    }
  }
  assert.deepEqual(slow, [])
  assert.ok(count > least, `${count} expressions`)
}
