/** Formats tables, and writes a benchmark's section of the results file. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readText, root } from '../../test/support/tools.js'

const file = 'bench/RESULTS.md'

export function print(line: string) {
  process.stdout.write(`${line}\n`)
}

/** @param facts conditions of the measurement @param parts paragraphs and tables of the section */
export function report(name: string, facts: string[], parts: string[]) {
  const date = `Date: ${new Date().toISOString().slice(0, 10)}`
  const args = process.argv.slice(2)
  const command = ['npm run bench', ...(args.length > 0 ? ['--', ...args] : [])].join(' ')
  const list = [...facts, date, `Command: \`${command}\``].map((fact) => `- ${fact}`)
  const text = [list.join('\n'), ...parts].join('\n\n')
  print(`\n${text}`)
  if (args.includes('--no-write')) return
  const old = new RegExp(`^## ${name}\n.*?(?=\n## |$(?![^]))`, 'ms')
  const section = `## ${name}\n\n${text.trim()}\n`
  writeFileSync(
    join(root, file),
    readText(file).replace(old, () => section),
  )
}

export function table(head: string[], rows: string[][]) {
  const all = [head, ...rows]
  const widths = head.map((_, at) => Math.max(3, ...all.map((row) => row[at]?.length ?? 0)))
  const [first = 0, ...others] = widths
  const line = ([name = '', ...cells]: string[]) =>
    `| ${[name.padEnd(first), ...others.map((width, at) => (cells[at] ?? '').padStart(width))].join(' | ')} |`
  const rule = `| ${['-'.repeat(first), ...others.map((width) => `${'-'.repeat(width - 1)}:`)].join(' | ')} |`
  return [line(head), rule, ...rows.map(line)].join('\n')
}

export function count(number: number) {
  return Math.round(number).toLocaleString('en')
}
