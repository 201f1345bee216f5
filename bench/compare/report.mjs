/** The results of the comparisons in words and tables. */

import { commandLine, wrkVersion } from '../lib/machine.mjs'
import { table } from '../lib/results.mjs'
import { median } from '../lib/statistics.mjs'
import { packageVersion } from '../lib/versions.mjs'
import { loadTool } from '../load/turn.mjs'

const method = `How it is measured: an item is 250 bytes of JSON text, including id and project_id. \
At the start of a workload the store holds 1,000 items, or as many as the list returns. The load \
uses 32 connections, 4 for lists. All servers of a workload run at the same time, and the load is \
sent to one after the other, turn by turn; before its first turn each gets a warm-up of one second. \
The items to delete are created, and the new tokens signed, before the turn; each is used once, and \
a turn ends early when they run out. Lists in flight at the end of a turn are waited for and \
counted. A turn in which any response is missing or has an unexpected status yields no figure and \
is reported as an error.`

/**
 * The report of a run.
 * @param versions by side; `undefined` for one that is not installed.
 * @param results by workload and name of the side: the rates of its turns, or an error message.
 */
export function describe({ machine, workloads, sides, versions, results, seconds, turns }) {
  const tool =
    loadTool === 'wrk' ? `wrk ${wrkVersion()}` : `autocannon ${packageVersion('autocannon')}`
  return [
    [
      ...machine.map((line) => `- ${line}`),
      `- Load: ${tool}`,
      `- Date: ${new Date().toISOString().slice(0, 10)}`,
      `- Command: \`${commandLine('bench')}\` (turns of ${seconds} s, ${turns} for each side)`,
    ].join('\n'),
    'Responses per second, median of the turns; a dash where a side does not support a workload:',
    rates(workloads, sides, results),
    ...ratios(workloads, sides, results),
    `Largest deviation of a turn from the median of its turns: ${largestDeviation(results)}.`,
    ...failures(results),
    `The sides:\n\n${[...versions].map(describeSide).join('\n')}`,
    method,
  ].join('\n\n')
}

/** A line for each side that failed at a work. */
export function failures(results) {
  return outcomes(results)
    .filter(({ outcome }) => !Array.isArray(outcome))
    .map(({ workload, name, outcome }) => `Error of ${name} in "${workload.title}": ${outcome}`)
}

/** A rate, with decimals where it is low. */
export function shown(rate) {
  const digits = rate < 10 ? 2 : rate < 100 ? 1 : 0
  return rate.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}

function rates(workloads, sides, results) {
  const rows = workloads.map((workload) => {
    const cells = sides.map(({ name }) => {
      const outcome = results.get(workload).get(name)
      if (outcome === undefined) return '-'
      return Array.isArray(outcome) ? shown(median(outcome)) : 'error'
    })
    return [workload.title, ...cells]
  })
  return table(['', ...sides.map(({ name }) => name)], rows)
}

function ratios(workloads, [own, ...others], results) {
  if (own?.name !== 'item-store' || others.length === 0) return []
  const rows = workloads.map((workload) => {
    const cells = others.map(({ name }) => {
      const both = [own.name, name].map((each) => results.get(workload).get(each))
      return both.every(Array.isArray) ? (median(both[0]) / median(both[1])).toFixed(2) : '-'
    })
    return [workload.title, ...cells]
  })
  return [
    'Throughput of item-store as a multiple of that of each other side:',
    table(['', ...others.map(({ name }) => name)], rows),
  ]
}

function largestDeviation(results) {
  const deviations = outcomes(results)
    .filter(({ outcome }) => Array.isArray(outcome))
    .map(({ workload, name, outcome }) => {
      const middle = median(outcome)
      const share = Math.max(...outcome.map((rate) => Math.abs(rate - middle) / middle))
      return { share, text: `${(share * 100).toFixed(0)} % (${name}, ${workload.title})` }
    })
  return deviations.toSorted((one, other) => other.share - one.share)[0]?.text ?? 'none'
}

function describeSide([side, version]) {
  if (version === undefined) return `- ${side.name}: left out because it is not installed`
  return `- ${side.name}: ${side.about}${version === '' ? '' : ` (${version})`}`
}

function outcomes(results) {
  return [...results].flatMap(([workload, bySide]) =>
    [...bySide].map(([name, outcome]) => ({ workload, name, outcome })),
  )
}
