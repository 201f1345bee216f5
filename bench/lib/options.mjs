/** Reads the options of the commands. What is wrong with them is told in one line. */

import { parseArgs } from 'node:util'

/** The values of the options; ends the process when one is not right, or help is asked for. */
export function readOptions(options, help) {
  try {
    const { values } = parseArgs({ options: { ...options, help: { type: 'boolean' } } })
    if (!values.help) return values
  } catch (error) {
    fail(error.message)
  }
  process.stdout.write(help)
  process.exit(0)
}

export function integer(name, text, least = 1) {
  const number = Number(text)
  if (Number.isSafeInteger(number) && number >= least) return number
  fail(`--${name} takes a whole number from ${least} on`)
}

/** Those of `all` that a comma-separated list names, or all without a list. */
export function chosen(name, list, all) {
  if (list === undefined) return all
  const names = list.split(',')
  const unknown = names.filter((one) => !all.some((each) => each.name === one))
  if (unknown.length > 0) {
    fail(`--${name} takes ${all.map((each) => each.name).join(', ')}, not ${unknown.join(', ')}`)
  }
  return all.filter((each) => names.includes(each.name))
}

function fail(message) {
  process.stderr.write(`${message}\n`)
  process.exit(2)
}
