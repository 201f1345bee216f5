/** Formats tables, and writes a benchmark's section of the results file. */

import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os'
import { basename, join } from 'node:path'
import { manifest, readText, root } from '../../test/support/tools.js'
import { mayWrite } from './options.js'
import { canPin, cores } from './processes.js'

const file = 'bench/RESULTS.md'

const pinning = canPin
  ? `server on core ${cores.server}, load on core ${cores.load}`
  : 'server and load not pinned to cores (no taskset, or one core only)'
/** Facts about the machine, before the benchmark changes its load average. */
const machine = [
  `Machine: ${cpus()[0]?.model ?? 'unknown processor'}, ${availableParallelism()} cores, ` +
    `${Math.round(totalmem() / 2 ** 30)} GiB; ${pinning}; ` +
    `load average at the start ${loadavg()[0]?.toFixed(2)}`,
  `Versions: item-store ${manifest.version} (${commit()}), node ${process.versions.node}`,
]

function commit() {
  const git = (...args: string[]) => spawnSync('git', args, { cwd: root, encoding: 'utf8' }).stdout
  // The results file is not part of the measured code.
  const changed = git('status', '--porcelain', '--', `:!${file}`)
  return `commit ${git('rev-parse', '--short', 'HEAD').trim()}${changed && ' with changes'}`
}

export function print(line: string) {
  process.stdout.write(`${line}\n`)
}

/** @param facts conditions of the measurement @param parts paragraphs and tables of the section */
export function report(name: string, facts: string[], parts: string[]) {
  const date = `Date: ${new Date().toISOString().slice(0, 10)}`
  const [, script = '', ...args] = process.argv
  const command = ['npm run bench --', basename(script, '.js'), ...args].join(' ')
  const list = [...machine, ...facts, date, `Command: \`${command}\``].map((fact) => `- ${fact}`)
  const text = [list.join('\n'), ...parts].join('\n\n')
  print(`\n${text}`)
  if (!mayWrite) return
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
