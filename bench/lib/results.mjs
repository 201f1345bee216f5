/** Tables, and the results file: each benchmark writes its own section and leaves the others. */

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { benchFolder } from './install.mjs'
import { commandLine } from './machine.mjs'

const file = join(benchFolder, 'RESULTS.md')
const order = ['Comparisons', 'Start', 'Scale', 'Pages']
const title = `# Results

Written by \`npm run bench\` (Comparisons) and \`npm run bench -- NAME\`, where NAME is start, scale or pages.
`

/** @param {string} line */
export function print(line) {
  process.stdout.write(`${line}\n`)
}

/**
 * Prints a report, and writes it into the results file unless the user asked not to.
 * @param {string} name of the section
 * @param {{ facts: string[], parts: string[], isWritten: boolean }} report what the results depend on, and
 * paragraphs and tables
 */
export function report(name, { facts, parts, isWritten }) {
  const date = `Date: ${new Date().toISOString().slice(0, 10)}`
  const list = [...facts, date, `Command: \`${commandLine()}\``].map((fact) => `- ${fact}`)
  const text = [list.join('\n'), ...parts].join('\n\n')
  print(`\n${text}`)
  if (isWritten) writeSection(name, text)
}

/**
 * A Markdown table, padded so that it reads well as plain text; all columns but the first are aligned right.
 * @param {string[]} head
 * @param {string[][]} rows
 */
export function table(head, rows) {
  const all = [head, ...rows]
  const widths = head.map((_, at) => Math.max(3, ...all.map((row) => row[at]?.length ?? 0)))
  const [first = 0, ...others] = widths
  /** @param {string[]} row */
  const line = ([name = '', ...cells]) =>
    `| ${[name.padEnd(first), ...others.map((width, at) => (cells[at] ?? '').padStart(width))].join(' | ')} |`
  const rule = `| ${['-'.repeat(first), ...others.map((width) => `${'-'.repeat(width - 1)}:`)].join(' | ')} |`
  return [line(head), rule, ...rows.map(line)].join('\n')
}

/**
 * Replaces the section `name` of the results file with `text`.
 * @param {string} name
 * @param {string} text
 */
export function writeSection(name, text) {
  const sections = readSections().set(name, text.trim())
  const written = order
    .filter((each) => sections.has(each))
    .map((each) => `## ${each}\n\n${sections.get(each)}\n`)
  writeFileSync(file, [title, ...written].join('\n'))
}

/** @returns {Map<string, string>} */
function readSections() {
  if (!existsSync(file)) return new Map()
  const [, ...parts] = readFileSync(file, 'utf8').split(/^## /m)
  return new Map(
    parts.map((part) => {
      const [name = ''] = part.split('\n', 1)
      return [name, part.slice(name.length).trim()]
    }),
  )
}

/**
 * A number with commas between thousands.
 * @param {number} number
 */
export function count(number) {
  return Math.round(number).toLocaleString('en')
}
