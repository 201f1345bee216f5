/**
 * Measures how long one client with expensive requests makes all other clients wait. Linux only.
 * Each case has its own server. Health checks and reads alternate on one connection, one every two
 * milliseconds. A dash means that the server lacks the feature, or takes more than 5 s.
 */

import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import { newAccess } from './lib/access.js'
import { type Headers, usualPrefix } from './lib/client.js'
import { describeMachine } from './lib/machine.js'
import { readOptions } from './lib/options.js'
import { startReading } from './lib/probe.js'
import { cores, kill, pinSelf, scratch } from './lib/processes.js'
import { count, print, report, table } from './lib/results.js'
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

  --only TEXT       only the cases with this text in their titles
`
const { only } = readOptions(help, { only: { type: 'string', default: '' } })

const longestRequest = 5 // seconds
const warmUp = 400 // milliseconds before the measurement
const afterwards = 200 // milliseconds for which the measurement continues after the response
const listItems = 100_000

interface Server {
  port: number
  items: string // path of the list
  headers: Headers
}

interface Case {
  title: string
  sides: Side[] // sides that have the feature and are fast enough
  body?: (() => Buffer) | undefined // request body that creates the item
  list?: number // initial number of items; 1 by default
  prepare: (server: Server) => Promise<() => Promise<number>> // returns the action to measure, which returns a status
}

const sides: Side[] = [itemStore, fastify, fastapi, jsonServer].filter(isAvailable)
const bodyFile = join(scratch, 'body.json')
const answerFile = join(scratch, 'answer.json')

const cases: Case[] = [
  ...Object.entries(bodies).map(([kind, body]) => ({
    title: `create: ${kind}`,
    sides,
    body,
    prepare: async (server: Server) => () => create(server),
  })),
  {
    title: 'read of one string',
    sides,
    body: bodies['one string'],
    async prepare(server) {
      const path = await createdPath(server)
      return () => curl(server, path)
    },
  },
  {
    title: `list of ${count(listItems)} items`,
    sides: [itemStore, fastify, jsonServer],
    list: listItems,
    prepare: async (server) => () => curl(server, server.items),
  },
]

const facts = describeMachine()
pinSelf(cores.load)
let ownStall = 0
const rows: string[][] = []
for (const one of cases.filter(({ title }) => title.includes(only))) {
  writeFileSync(bodyFile, one.body?.() ?? '')
  const row = [one.title]
  for (const side of sides) row.push(one.sides.includes(side) ? await measure(one, side) : '-')
  rows.push(row)
  print(`  ${row.join(' | ')}`)
}

report('Stalls', facts, [
  'Longest time, in milliseconds, that a health check or a read of a 250-byte item waited during each operation:',
  table(['', ...sides.map(({ name }) => name)], rows),
  `In parentheses: the status of an error response, "gave up" if no response came within ${longestRequest} s, or why ` +
    `the load ended early. The load generator's own thread was delayed by up to ${ownStall.toFixed(0)} ms.`,
  `The sides:\n\n${sides.map(describeSide).join('\n')}`,
])

/** Returns the longest wait as text, in milliseconds, with the error if there was one. */
async function measure({ list = 1, prepare }: Case, side: Side) {
  const { port, secret, headers } = await newAccess()
  const prefix = side.prefix ?? usualPrefix
  const server = { port, headers, items: `${prefix}/items` }
  const programs = await side.start({ port, secret, items: list })
  try {
    const [id] = await side.create(server, list, 60)
    const act = await prepare(server)
    const read = { method: 'GET', headers, path: `${server.items}/${id}` }
    const health = { method: 'GET', path: `${prefix}/health` }
    const warmedUp = await startReading(port, [health, read])
    await wait(warmUp)
    await warmedUp()
    const done = await startReading(port, [health, read])
    const status = await act()
    if (status !== 0) await wait(afterwards)
    const { longest, ownStall: delayed, problem } = await done()
    ownStall = Math.max(ownStall, delayed)
    const reason =
      problem ?? (status === 0 ? 'gave up' : status < 400 || status === 404 ? '' : status)
    return longest.toFixed(longest < 10 ? 1 : 0) + (reason === '' ? '' : ` (${reason})`)
  } finally {
    await kill(...programs)
  }
}

/** Sends a request with curl. Returns its status, or 0 above the time limit. */
async function curl({ port, headers }: Server, path: string, ...args: string[]) {
  const options = ['--silent', '--max-time', String(longestRequest), '--output', answerFile]
  const result = ['--write-out', '%{exitcode} %{http_code}']
  const authorization = ['--header', `Authorization: ${headers.Authorization}`]
  const url = `http://127.0.0.1:${port}${path}`
  const child = spawn('curl', [...options, ...result, ...authorization, ...args, url])
  const [exitCode, status] = (await text(child.stdout)).split(' ')
  return exitCode === '0' ? Number(status) : 0
}

function create(server: Server) {
  const header = 'Content-Type: application/json'
  return curl(server, server.items, '--header', header, '--data-binary', `@${bodyFile}`)
}

async function createdPath(server: Server) {
  const status = await create(server)
  if (status !== 201) throw new Error(`the create before the measurement got status ${status}`)
  const answer = readFileSync(answerFile)
  const ends = `${answer.subarray(0, 500)}${answer.subarray(-500)}` // the id is near the start or the end of the body
  return `${server.items}/${/"id": ?"([\w-]+)"/.exec(ends)?.[1]}`
}
