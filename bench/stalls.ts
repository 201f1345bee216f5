/**
 * Measures how long one client with a large request body makes all other clients wait. Linux only.
 * Each case has its own server. Health checks and reads alternate on one connection, one every two milliseconds.
 */

import { setTimeout as wait } from 'node:timers/promises'
import { createItems } from './lib/connections.js'
import { chosen, only, sides as sideNames } from './lib/options.js'
import { startReading } from './lib/probe.js'
import { kill, pinSelf } from './lib/processes.js'
import { addressed, requests } from './lib/requests.js'
import { print, report, table } from './lib/results.js'
import { sides as allSides, installed, type Side, startSide } from './peers/sides.js'

const timeLimit = 5 // seconds for a create
const warmUp = 400 // milliseconds before the measurement
const afterwards = 200 // milliseconds for which the measurement continues after the response

const bodyBytes = Math.floor(15.9 * 1024 * 1024) // a little below the default of `MAX_BODY_BYTES`
const mostMembers = 65_536 // of an item
const brackets = bodyBytes / 2 - 10

const bodies: { name: string; members: () => string }[] = [
  { name: 'distinct names', members: distinctNames },
  {
    name: 'brackets in brackets',
    members: () => `"a":${'['.repeat(brackets)}${']'.repeat(brackets)}`,
  },
  { name: 'empty arrays', members: () => `"a":[${repeated('[],')}]` },
  { name: 'small objects', members: () => `"a":[${repeated('{"a":1},')}]` },
  { name: 'one string', members: () => `"a":"${repeated('x')}"` },
  { name: 'one string of escapes', members: () => `"a":"${repeated('\\u00e9')}"` },
  { name: 'one number', members: () => `"a":${repeated('1')}` },
]

const parsers = ['item-store', 'fastify', 'fastapi', 'json-server'] // the others parse as one of these does
const sides = installed(
  chosen(
    sideNames,
    allSides.filter(({ name }) => parsers.includes(name)),
  ),
)

pinSelf()
let ownStall = 0
const rows: string[][] = []
for (const { name, members } of chosen(only, bodies)) {
  const body = `{"data":{${members()}}}`
  const row = [name]
  for (const side of sides) row.push(await measure(side, body))
  rows.push(row)
  print(`  ${row.join(' | ')}`)
}

report(
  'Stalls',
  [],
  [
    'Longest time, in milliseconds, that a health check or a read of a 250-byte item waited during a create:',
    table(['', ...sides.map(({ name }) => name)], rows),
    `In parentheses: the status of an error response, "gave up" if no response came within ${timeLimit} s, or why ` +
      `the load ended early. The load generator's own thread was delayed by up to ${ownStall.toFixed(0)} ms. ` +
      'The servers are those of the comparisons.',
  ],
)

/** Returns the longest wait as text, in milliseconds, with the error if there was one. */
async function measure(side: Side, body: string) {
  const { server, programs } = await startSide(side)
  const [id = ''] = await createItems(server, 1)
  const reads = [requests.health, requests.read(id)]
  const warmedUp = await startReading(server, reads)
  await wait(warmUp)
  await warmedUp()
  const done = await startReading(server, reads)
  const { path, method, headers = {} } = addressed(server, requests.create())
  const signal = AbortSignal.timeout(timeLimit * 1000)
  const url = `http://127.0.0.1:${server.port}${path}`
  const status = await fetch(url, { method, headers, body, signal }).then(
    async (response) => {
      await response.body?.pipeTo(new WritableStream())
      return response.status
    },
    () => 0,
  )
  if (status !== 0) await wait(afterwards)
  const { longest, ownStall: delayed, problem } = await done()
  await kill(programs)
  ownStall = Math.max(ownStall, delayed)
  const reason = problem ?? (status === 0 ? 'gave up' : status < 400 ? '' : status)
  return longest.toFixed(longest < 10 ? 1 : 0) + (reason === '' ? '' : ` (${reason})`)
}

/** Repeats text until it fills a request body, and removes the last comma, if any. */
function repeated(text: string) {
  return text.repeat((bodyBytes - 30) / text.length).replace(/,$/, '')
}

/** Returns as many members as an item may have. Their names fill a request body. */
function distinctNames() {
  const length = Math.floor(bodyBytes / mostMembers) - '"":1,'.length
  return Array.from(
    { length: mostMembers },
    (_, place) => `"${String(place).padEnd(length)}":1`,
  ).join()
}
