/** Tables, and the results file: each command writes its own section and leaves the others. */

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { benchFolder } from './install.mjs'

const file = join(benchFolder, 'RESULTS.md')
const order = ['Comparisons', 'Start', 'Embedding', 'Scale', 'Replicas', 'Pages']
const title = `# Results

Written by \`npm run bench\` (Comparisons), \`npm run bench:start\` (Start),
\`npm run bench:embedding\` (Embedding), \`npm run bench:scale\` (Scale),
\`npm run bench:replicas\` (Replicas) and \`npm run bench:pages\` (Pages).
`

/** A Markdown table, padded so that it reads well as plain text; all columns but the first are aligned right. */
export function table(head, rows) {
  const all = [head, ...rows]
  const widths = head.map((_, column) => Math.max(3, ...all.map((row) => row[column].length)))
  const line = (row) =>
    `| ${row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at]) : cell.padStart(widths[at]))).join(' | ')} |`
  const rule = widths.map((width, at) =>
    at === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`,
  )
  return [line(head), line(rule), ...rows.map(line)].join('\n')
}

/** Replaces the section `name` of the results file with `text`. */
export function writeSection(name, text) {
  const sections = readSections()
  sections.set(name, text.trim())
  const written = order
    .filter((each) => sections.has(each))
    .map((each) => `## ${each}\n\n${sections.get(each)}\n`)
  writeFileSync(file, [title, ...written].join('\n'))
}

function readSections() {
  if (!existsSync(file)) return new Map()
  const [, ...parts] = readFileSync(file, 'utf8').split(/^## /m)
  return new Map(
    parts.map((part) => {
      const [name] = part.split('\n', 1)
      return [name, part.slice(name.length).trim()]
    }),
  )
}
