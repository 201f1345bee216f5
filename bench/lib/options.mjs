/** Reads the options of a benchmark; each has `--no-write`. An invalid one is reported in one line. */

import { parseArgs } from 'node:util'

/** @import { ParseArgsConfig } from 'node:util' */

const noWrite = /** @type {const} */ ({ 'no-write': { type: 'boolean', default: false } })

/**
 * The values of the options; ends the process when one is invalid, or when help is requested.
 * @template {NonNullable<ParseArgsConfig['options']>} T
 * @param {string} help
 * @param {T} options
 */
export function readOptions(help, options) {
  const all = process.argv.slice(2)
  const args = all[0]?.startsWith('-') ? all : all.slice(1) // without the name of the benchmark
  if (args.includes('--help')) {
    process.stdout.write(`${help}  --no-write        only print; leave bench/RESULTS.md as it is\n`)
    process.exit(0)
  }
  try {
    return parseArgs({ args, options: { ...options, ...noWrite } }).values
  } catch (error) {
    return fail(error instanceof Error ? error.message : String(error))
  }
}

/**
 * @param {string} name
 * @param {string} text
 */
export function integer(name, text, minimum = 1) {
  const number = Number(text)
  if (Number.isSafeInteger(number) && number >= minimum) return number
  return fail(`--${name} takes a whole number of at least ${minimum}`)
}

/**
 * The elements of `all` that a comma-separated list names, or all of them without a list.
 * @template {{ name: string }} T
 * @param {string} name
 * @param {string | undefined} list
 * @param {T[]} all
 */
export function chosen(name, list, all) {
  if (list === undefined) return all
  const names = list.split(',')
  const unknown = names.filter((one) => !all.some((each) => each.name === one))
  if (unknown.length > 0) {
    fail(`--${name} takes ${all.map((each) => each.name).join(', ')}, not ${unknown.join(', ')}`)
  }
  return all.filter((each) => names.includes(each.name))
}

/**
 * Ends the process: what the user typed or installed does not allow this run.
 * @param {string} message
 * @returns {never}
 */
export function fail(message) {
  process.stderr.write(`${message}\n`)
  process.exit(2)
}
