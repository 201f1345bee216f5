/** The start benchmark: reads the options, takes the measurements, prints the tables and records them. */

import { buildRevision } from '../lib/builds.mjs'
import { describeMachine } from '../lib/machine.mjs'
import { integer, readOptions } from '../lib/options.mjs'
import { cores, pinSelf } from '../lib/processes.mjs'
import { writeSection } from '../lib/results.mjs'
import itemStore, { itemStoreAt } from '../peers/item-store.mjs'
import { filesLoaded, idleMemory, timeCommand, timeStart } from './measure.mjs'
import { describe } from './report.mjs'
import { sidesWith } from './sides.mjs'

const memoryStarts = 5
const idleSeconds = 5

const help = `Usage: npm run bench:start -- [options]

  --starts N      starts of each server and each command [15]
  --against REV   also measure the service as of this git revision, built for this run
  --no-write      only print; leave bench/RESULTS.md as it is
`
const options = readOptions(
  {
    starts: { type: 'string', default: '15' },
    against: { type: 'string' },
    'no-write': { type: 'boolean' },
  },
  help,
)
const starts = integer('starts', options.starts)
const services = [itemStore]
if (options.against !== undefined) services.push(itemStoreAt(buildRevision(options.against)))

const print = (text) => process.stdout.write(`${text}\n`)
const machine = describeMachine()
for (const line of machine) print(line)
pinSelf(cores.load)

const sides = sidesWith(services)
const servers = new Map()
for (const side of sides) {
  const version = side.version ? ` (${side.version()})` : ''
  await timeStart(side) // does not count
  servers.set(side.name, { about: side.about + version, listening: [], answered: [], memory: [] })
}
for (let number = 1; number <= starts; number += 1) {
  print(`start ${number} of ${starts}`)
  for (const side of sides) {
    const { listening, answered } = await timeStart(side)
    servers.get(side.name).listening.push(listening)
    servers.get(side.name).answered.push(answered)
  }
}
for (let number = 1; process.platform === 'linux' && number <= memoryStarts; number += 1) {
  print(`memory ${number} of ${memoryStarts}`)
  const bytes = await idleMemory(sides, idleSeconds)
  for (const [index, { name }] of sides.entries()) servers.get(name).memory.push(bytes[index])
}
for (const side of sides) servers.get(side.name).files = await filesLoaded(side)

print('commands')
const programs = new Map([
  ['node -e 0', { args: ['-e', '0'] }],
  ...services.flatMap(({ name, command }) =>
    ['--version', '--help'].map((flag) => [`${name} ${flag}`, command(flag)]),
  ),
])
const commands = new Map()
for (const [name, program] of programs) {
  await timeCommand(program) // does not count
  commands.set(name, [])
}
for (let number = 1; number <= starts; number += 1) {
  for (const [name, program] of programs) commands.get(name).push(await timeCommand(program))
}

const report = describe({ machine, servers, commands, starts, memoryStarts, idleSeconds })
print(`\n${report}`)
if (!options['no-write']) writeSection('Start', report)
