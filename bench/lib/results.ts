/** Formats tables, and writes the section of a benchmark into the results file. */

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../test/support/tools.js'
import { commandLine } from './machine.js'

const file = join(root, 'bench/RESULTS.md')

export function print(line: string) {
  process.stdout.write(`${line}\n`)
}

/** `facts` are the conditions of the measurement. `parts` are paragraphs and tables. */
export function report(name: string, { facts, parts }: { facts: string[]; parts: string[] }) {
  const date = `Date: ${new Date().toISOString().slice(0, 10)}`
  const list = [...facts, date, `Command: \`${commandLine()}\``].map((fact) => `- ${fact}`)
  const text = [list.join('\n'), ...parts].join('\n\n')
  print(`\n${text}`)
  if (!process.argv.includes('--no-write')) writeSection(name, text)
}

/** Returns a Markdown table, padded to be readable as plain text. */
export function table(head: string[], rows: string[][]) {
  const all = [head, ...rows]
  const widths = head.map((_, at) => Math.max(3, ...all.map((row) => row[at]?.length ?? 0)))
  const [first = 0, ...others] = widths
  const line = ([name = '', ...cells]: string[]) =>
    `| ${[name.padEnd(first), ...others.map((width, at) => (cells[at] ?? '').padStart(width))].join(' | ')} |`
  const rule = `| ${['-'.repeat(first), ...others.map((width) => `${'-'.repeat(width - 1)}:`)].join(' | ')} |`
  return [line(head), rule, ...rows.map(line)].join('\n')
}

function writeSection(name: string, text: string) {
  const old = new RegExp(`^## ${name}\n.*?(?=\n## |$(?![^]))`, 'ms')
  const all = readFileSync(file, 'utf8')
  const section = `## ${name}\n\n${text.trim()}\n`
  writeFileSync(file, old.test(all) ? all.replace(old, () => section) : `${all}\n${section}`)
}

export function count(number: number) {
  return Math.round(number).toLocaleString('en')
}
