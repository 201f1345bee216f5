/** The command-line options of all benchmarks. */

import { parseArgs } from 'node:util'

const help = `Usage: npm run bench -- [compare|stalls|scale] [options]

  --no-write        only print; leave bench/RESULTS.md as it is

compare (needs wrk), stalls (Linux only)
  --only NAMES      only these workloads or bodies
  --sides NAMES     only these servers

compare
  --against REV     also measure the service at this git revision, built for this run
  --seconds N       length of a turn [2]
  --turns N         turns for each server [3]

scale (Linux only)
  --items N         number of items, at least 100,000 [1000000]; 10,000,000 take 4 GB of memory
`

const { values } = parseArgs({
  options: {
    help: { type: 'boolean' },
    'no-write': { type: 'boolean', default: false },
    only: { type: 'string' },
    sides: { type: 'string' },
    against: { type: 'string' },
    seconds: { type: 'string', default: '2' },
    turns: { type: 'string', default: '3' },
    items: { type: 'string', default: '1000000' },
  },
})
if (values.help) {
  process.stdout.write(help)
  process.exit()
}

export const { only, sides, against } = values
export const mayWrite = !values['no-write']
export const seconds = Number(values.seconds)
export const turns = Number(values.turns)
export const items = Number(values.items)

/** Returns the elements that a comma-separated list names, or all elements if there is no list. */
export function chosen<T extends { name: string }>(list: string | undefined, all: T[]) {
  const names = all.map(({ name }) => name)
  const refuse = (name: string) => fail(`there is no ${name}, only ${names.join(', ')}`)
  return (list?.split(',') ?? names).map(
    (name) => all.find((each) => each.name === name) ?? refuse(name),
  )
}

export function fail(message: string): never {
  process.stderr.write(`${message}\n`)
  process.exit(2)
}
