/** The results of the comparisons in words and tables. */

import { commandLine, wrkVersion } from '../lib/machine.mjs'
import { table } from '../lib/results.mjs'
import { packageVersion } from '../lib/versions.mjs'
import { loadTool } from '../load/turn.mjs'

const method = `How it is measured: an item is 250 bytes of JSON text, id and project_id included. \
The store holds 1,000 items at the start of a work, or as many as the list has. There are 32 \
connections, 4 for lists. All servers of a work run side by side, and the load goes to one after \
the other, turn by turn; before the first turn each has a warm-up of one second. Deletes are of \
items created before the turn, new tokens are signed before the turn, each is used once, and a \
turn ends early when they run out. Lists that are under way at the end of a turn are waited for \
and counted. A turn in which any answer is a refusal or missing has no number and is reported as \
an error.`

/**
 * All that there is to say of a run.
 * @param versions by side; `undefined` for one that is not installed.
 * @param results by work and name of the side: the rates of its turns, or what went wrong.
 */
export function describe({ machine, works, sides, versions, results, seconds, turns }) {
  const tool =
    loadTool === 'wrk' ? `wrk ${wrkVersion()}` : `autocannon ${packageVersion('autocannon')}`
  return [
    [
      ...machine.map((line) => `- ${line}`),
      `- Load: ${tool}`,
      `- Date: ${new Date().toISOString().slice(0, 10)}`,
      `- Command: \`${commandLine('bench')}\` (turns of ${seconds} s, ${turns} of each side)`,
    ].join('\n'),
    'Answers per second, median of the turns; a dash where a side does not do a work:',
    rates(works, sides, results),
    ...ratios(works, sides, results),
    `Widest spread of turns around their median: ${widestSpread(results)}.`,
    ...failures(results),
    `The sides:\n\n${[...versions].map(describeSide).join('\n')}`,
    method,
  ].join('\n\n')
}

/** A line for each side that failed at a work. */
export function failures(results) {
  return outcomes(results)
    .filter(({ outcome }) => !Array.isArray(outcome))
    .map(({ work, name, outcome }) => `Error of ${name} at "${work.title}": ${outcome}`)
}

/** A rate, with decimals where it is low. */
export function shown(rate) {
  const digits = rate < 10 ? 2 : rate < 100 ? 1 : 0
  return rate.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}

function rates(works, sides, results) {
  const rows = works.map((work) => {
    const cells = sides.map(({ name }) => {
      const outcome = results.get(work).get(name)
      if (outcome === undefined) return '-'
      return Array.isArray(outcome) ? shown(median(outcome)) : 'error'
    })
    return [work.title, ...cells]
  })
  return table(['', ...sides.map(({ name }) => name)], rows)
}

function ratios(works, [own, ...others], results) {
  if (own?.name !== 'item-store' || others.length === 0) return []
  const rows = works.map((work) => {
    const cells = others.map(({ name }) => {
      const both = [own.name, name].map((each) => results.get(work).get(each))
      return both.every(Array.isArray) ? (median(both[0]) / median(both[1])).toFixed(2) : '-'
    })
    return [work.title, ...cells]
  })
  return [
    'The rate of item-store as a multiple of that of each other side:',
    table(['', ...others.map(({ name }) => name)], rows),
  ]
}

function widestSpread(results) {
  const spreads = outcomes(results)
    .filter(({ outcome }) => Array.isArray(outcome))
    .map(({ work, name, outcome }) => {
      const middle = median(outcome)
      const share = Math.max(...outcome.map((rate) => Math.abs(rate - middle) / middle))
      return { share, text: `${(share * 100).toFixed(0)} % (${name}, ${work.title})` }
    })
  return spreads.toSorted((one, other) => other.share - one.share)[0]?.text ?? 'none'
}

function describeSide([side, version]) {
  if (version === undefined) return `- ${side.name}: left out, as it is not installed`
  return `- ${side.name}: ${side.about}${version === '' ? '' : ` (${version})`}`
}

function outcomes(results) {
  return [...results].flatMap(([work, bySide]) =>
    [...bySide].map(([name, outcome]) => ({ work, name, outcome })),
  )
}

/** The middle one, or what lies between the two in the middle. */
function median(numbers) {
  const sorted = numbers.toSorted((one, other) => one - other)
  const middle = (sorted.length - 1) / 2
  return (sorted[Math.floor(middle)] + sorted[Math.ceil(middle)]) / 2
}
