/**
 * The start: time until a server listens and answers.
 *
 * Time runs from just before the process is created. The server is listening when a TCP connection is
 * accepted, which is tried every millisecond. A health check is sent over that connection, and the first
 * response is there when its first bytes are. The sides take turns, after one start of each that does not
 * count.
 */

import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import { freePort } from '../test/support/process.js'
import { buildRevision } from './lib/builds.js'
import { rawRequest } from './lib/client.js'
import { describeMachine } from './lib/machine.js'
import { readOptions } from './lib/options.js'
import { connectionTo, cores, type Program, pinSelf, start, stop } from './lib/processes.js'
import { print, report, table } from './lib/results.js'
import { median, quantile } from './lib/statistics.js'
import bare from './peers/bare.js'
import itemStore, { itemStoreAt } from './peers/item-store.js'

/** What is started: a program that is one Node.js process. */
export interface Side {
  name: string
  about: string
  program: (options: { port: number; secret: string }) => Program
}

/** In milliseconds. */
type Measured = { listening: number[]; answered: number[] }

const starts = 15
const request = rawRequest({ method: 'GET', path: '/api/v1/health' })

const help = `Usage: npm run bench -- start [options]

  --against REV   also measure the service as of this git revision, built for this run
`
const options = readOptions(help, {
  against: { type: 'string' },
})
const machine = describeMachine()
/** The first is the one that the others are compared with. */
const sides: Side[] = [bare, itemStore]
if (options.against !== undefined) sides.push(itemStoreAt(buildRevision(options.against)))

for (const line of machine) print(line)
pinSelf(cores.load)
const results: Map<Side, Measured> = new Map(
  sides.map((side) => [side, { listening: [], answered: [] }]),
)
for (const side of sides) await timeStart(side) // does not count
for (let number = 1; number <= starts; number += 1) {
  print(`start ${number} of ${starts}`)
  for (const [side, { listening, answered }] of results) {
    const times = await timeStart(side)
    listening.push(times.listening)
    answered.push(times.answered)
  }
}

report('Start', {
  facts: [...machine, `Starts of each: ${starts}`],
  parts: [
    'Starts of servers, medians, and as multiples of bare `node:http`:',
    resultTable(),
    `Half of the times of each row lie within ${spread()} of their median, or closer.`,
  ],
})

/**
 * Starts a side's server and sends it one request over the first connection that it accepts.
 * @returns milliseconds from just before the process was made until a connection was accepted
 * (`listening`) and until the first bytes of the response had arrived (`answered`)
 */
async function timeStart(side: Side) {
  const { port, program } = await prepare(side)
  const started = performance.now()
  const child = start(program)
  try {
    const socket = await connectionTo(child, port)
    const listening = performance.now() - started
    const head = await firstBytes(socket)
    const answered = performance.now() - started
    if (!head.startsWith('HTTP/1.1 200 ')) throw new Error(`${side.name} answered ${head}`)
    return { listening, answered }
  } finally {
    await stop(child)
  }
}

async function prepare(side: Side) {
  const port = await freePort()
  const secret = randomBytes(32).toString('base64url')
  return { port, program: { ...side.program({ port, secret }), core: cores.server } }
}

function firstBytes(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    socket
      .once('data', (chunk) => {
        socket.destroy()
        resolve(chunk.toString('latin1'))
      })
      .once('error', reject)
      .once('close', () => reject(new Error('no response')))
    socket.write(request)
  })
}

function resultTable() {
  const rows = [...results].map(([{ name }, own]) => [
    name,
    ...compared('listening', own),
    ...compared('answered', own),
  ])
  const head = ['listening, ms', '×', 'first response, ms', '×']
  return table(['', ...head], rows)
}

/** The median, and how it compares with that of bare `node:http`. */
function compared(key: keyof Measured, own: Measured) {
  const middle = median(own[key])
  return [middle.toFixed(1), (middle / median(results.get(bare)?.[key] ?? [])).toFixed(2)]
}

/** The largest distance of a quartile from its median. */
function spread() {
  const times = [...results.values()].flatMap(({ listening, answered }) => [listening, answered])
  const shares = times.flatMap((numbers) =>
    [0.25, 0.75].map((share) => Math.abs(quantile(numbers, share) / median(numbers) - 1)),
  )
  return `${(Math.max(...shares) * 100).toFixed(0)} %`
}
