/**
 * Measures how long one client with a large request body makes all other clients wait. Linux only.
 * Each case has its own server. Health checks and reads alternate on one connection, one every two milliseconds.
 */

import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import { newAccess } from './lib/access.js'
import { usualPrefix } from './lib/client.js'
import { describeMachine } from './lib/machine.js'
import { readOptions } from './lib/options.js'
import { startReading } from './lib/probe.js'
import { cores, kill, pinSelf, scratch } from './lib/processes.js'
import { print, report, table } from './lib/results.js'
import {
  describeSide,
  fastapi,
  fastify,
  isAvailable,
  itemStore,
  jsonServer,
  type Side,
} from './peers/sides.js'
import { bodies } from './stalls/bodies.js'

const help = `Usage: npm run bench -- stalls [options]   (needs curl; Linux only)

  --only TEXT       only the bodies with this text in their titles
`
const { only } = readOptions(help, { only: { type: 'string', default: '' } })

const longestRequest = 5 // seconds
const warmUp = 400 // milliseconds before the measurement
const afterwards = 200 // milliseconds for which the measurement continues after the response

const sides: Side[] = [itemStore, fastify, fastapi, jsonServer].filter(isAvailable)
const bodyFile = join(scratch, 'body.json')

const facts = describeMachine()
pinSelf(cores.load)
let ownStall = 0
const rows: string[][] = []
for (const [title, body] of Object.entries(bodies).filter(([title]) => title.includes(only))) {
  writeFileSync(bodyFile, body())
  const row = [title]
  for (const side of sides) row.push(await measure(side))
  rows.push(row)
  print(`  ${row.join(' | ')}`)
}

report('Stalls', facts, [
  'Longest time, in milliseconds, that a health check or a read of a 250-byte item waited during a create:',
  table(['', ...sides.map(({ name }) => name)], rows),
  `In parentheses: the status of an error response, "gave up" if no response came within ${longestRequest} s, or why ` +
    `the load ended early. The load generator's own thread was delayed by up to ${ownStall.toFixed(0)} ms.`,
  `The sides:\n\n${sides.map(describeSide).join('\n')}`,
])

/** Returns the longest wait as text, in milliseconds, with the error if there was one. */
async function measure(side: Side) {
  const { port, secret, headers } = await newAccess()
  const prefix = side.prefix ?? usualPrefix
  const programs = await side.start({ port, secret, items: 1 })
  try {
    const [id] = await side.create({ port, headers }, 1, 60)
    const read = { method: 'GET', headers, path: `${prefix}/items/${id}` }
    const health = { method: 'GET', path: `${prefix}/health` }
    const warmedUp = await startReading(port, [health, read])
    await wait(warmUp)
    await warmedUp()
    const done = await startReading(port, [health, read])
    const status = await create(`http://127.0.0.1:${port}${prefix}/items`, headers.Authorization)
    if (status !== 0) await wait(afterwards)
    const { longest, ownStall: delayed, problem } = await done()
    ownStall = Math.max(ownStall, delayed)
    const reason = problem ?? (status === 0 ? 'gave up' : status < 400 ? '' : status)
    return longest.toFixed(longest < 10 ? 1 : 0) + (reason === '' ? '' : ` (${reason})`)
  } finally {
    await kill(...programs)
  }
}

/** Creates an item with curl. Returns the status of the response, or 0 above the time limit. */
async function create(url: string, authorization: string) {
  const options = ['--silent', '--max-time', String(longestRequest), '--output', '/dev/null']
  const result = ['--write-out', '%{exitcode} %{http_code}']
  const headers = [`Authorization: ${authorization}`, 'Content-Type: application/json']
  const sent = [...headers.flatMap((line) => ['--header', line]), '--data-binary', `@${bodyFile}`]
  const child = spawn('curl', [...options, ...result, ...sent, url])
  const [exitCode, status] = (await text(child.stdout)).split(' ')
  return exitCode === '0' ? Number(status) : 0
}
