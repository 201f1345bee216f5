/** Reads the options of a benchmark, and `--no-write`, which every benchmark has. */

import { type ParseArgsConfig, parseArgs } from 'node:util'

/** Parses the command line. Ends the process if an option is invalid or help is requested. */
export function readOptions<T extends NonNullable<ParseArgsConfig['options']>>(
  help: string,
  options: T,
) {
  const all = process.argv.slice(2)
  const args = all[0]?.startsWith('-') ? all : all.slice(1) // drops the name of the benchmark
  if (args.includes('--help')) {
    process.stdout.write(`${help}  --no-write        only print; leave bench/RESULTS.md as it is\n`)
    process.exit(0)
  }
  try {
    return parseArgs({ args, options: { ...options, 'no-write': { type: 'boolean' } } }).values
  } catch (error) {
    return fail(error instanceof Error ? error.message : String(error))
  }
}

export function integer(name: string, text: string, minimum = 1) {
  const number = Number(text)
  if (Number.isSafeInteger(number) && number >= minimum) return number
  return fail(`--${name} takes a whole number of at least ${minimum}`)
}

/** Returns the elements that a comma-separated list names, or all elements if there is no list. */
export function chosen<T extends { name: string }>(
  option: string,
  list: string | undefined,
  all: T[],
) {
  const names = all.map(({ name }) => name)
  const refuse = (name: string) => fail(`--${option} takes ${names.join(', ')}, not ${name}`)
  return (list?.split(',') ?? names).map(
    (name) => all.find((each) => each.name === name) ?? refuse(name),
  )
}

export function fail(message: string): never {
  process.stderr.write(`${message}\n`)
  process.exit(2)
}
