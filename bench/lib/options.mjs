/** Reads the options of the commands. An invalid option is reported in one line. */

import { parseArgs } from 'node:util'

/** The values of the options; ends the process when one is invalid, or when help is requested. */
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

export function integer(name, text, minimum = 1) {
  const number = Number(text)
  if (Number.isSafeInteger(number) && number >= minimum) return number
  fail(`--${name} takes a whole number of at least ${minimum}`)
}

/** The elements of `all` that a comma-separated list names, or all of them without a list. */
export function chosen(name, list, all) {
  if (list === undefined) return all
  const names = list.split(',')
  const unknown = names.filter((one) => !all.some((each) => each.name === one))
  if (unknown.length > 0) {
    fail(`--${name} takes ${all.map((each) => each.name).join(', ')}, not ${unknown.join(', ')}`)
  }
  return all.filter((each) => names.includes(each.name))
}

/** Ends the process: something that the user typed is wrong. */
export function fail(message) {
  process.stderr.write(`${message}\n`)
  process.exit(2)
}
