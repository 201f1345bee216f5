/** The results of the start benchmark in words and tables. */

import { commandLine } from '../lib/machine.mjs'
import { table } from '../lib/results.mjs'
import { median, quartiles } from '../lib/statistics.mjs'

/**
 * The report of a run.
 * @param servers by name of the side: its `about`, and what was measured: lists of milliseconds
 * (`listening`, `answered`), a list of bytes (`memory`, empty where it cannot be read), and `files`.
 * The first is the one that the others are compared with.
 * @param commands by name: a list of milliseconds; likewise.
 */
export function describe({ machine, servers, commands, starts, memoryStarts, idleSeconds }) {
  const times = [...servers.values()].flatMap(({ listening, answered }) => [listening, answered])
  return [
    [
      ...machine.map((line) => `- ${line}`),
      `- Date: ${new Date().toISOString().slice(0, 10)}`,
      `- Command: \`${commandLine('bench:start')}\` (${starts} starts of each, ` +
        `${memoryStarts} for memory)`,
    ].join('\n'),
    'Starts of servers, medians, and as multiples of bare `node:http`:',
    serverTable(servers),
    'Commands that print and end, medians, and as multiples of `node -e 0`:',
    commandTable(commands),
    `Half of the times of each row lie within ${spread([...times, ...commands.values()])} of ` +
      'their median, or closer.',
    `The sides:\n\n${[...servers].map(([name, { about }]) => `- ${name}: ${about}`).join('\n')}`,
    method(idleSeconds),
  ].join('\n\n')
}

function method(idleSeconds) {
  return (
    'How it is measured: time runs from just before the process is created. It is listening when ' +
    'a TCP connection is accepted, which is tried every millisecond. Over that connection one ' +
    'request is sent, a health check (json-server: an empty list), and the first response is there ' +
    'when its first bytes are. The second figure is the fairer one: a server can listen before it ' +
    'is ready to answer. The sides take turns, after one start of each that does not count, so ' +
    'files come from the page cache. For memory, all servers are started together and get no ' +
    `connection; resident memory (VmRSS, Linux only) is read ${idleSeconds} seconds later. A ` +
    'garbage collection that V8 runs after a longer idle time, about half a minute, may lower it ' +
    'further. Files are the JavaScript files that V8 has parsed by the time the server listens, ' +
    'without those built into Node.js.'
  )
}

function serverTable(servers) {
  const [bare] = servers.values()
  const rows = [...servers].map(([name, own]) => [
    name,
    ...compared(own.listening, bare.listening, milliseconds),
    ...compared(own.answered, bare.answered, milliseconds),
    ...compared(own.memory, bare.memory, mebibytes),
    own.files.toLocaleString('en'),
  ])
  const head = ['listening, ms', '×', 'first response, ms', '×', 'idle memory, MiB', '×', 'files']
  return table(['', ...head], rows)
}

function commandTable(commands) {
  const [bare] = commands.values()
  const rows = [...commands].map(([name, times]) => [name, ...compared(times, bare, milliseconds)])
  return table(['', 'ms', '×'], rows)
}

/** The median of the numbers, and as a multiple of that of others. */
function compared(numbers, others, shown) {
  if (numbers.length === 0) return ['-', '-']
  return [shown(median(numbers)), (median(numbers) / median(others)).toFixed(2)]
}

/** The largest distance of a quartile from its median. */
function spread(lists) {
  const shares = lists.flatMap((numbers) =>
    quartiles(numbers).map((quartile) => Math.abs(quartile / median(numbers) - 1)),
  )
  return `${(Math.max(...shares) * 100).toFixed(0)} %`
}

function milliseconds(number) {
  return number.toFixed(number < 100 ? 1 : 0)
}

function mebibytes(bytes) {
  return (bytes / 2 ** 20).toFixed(1)
}
