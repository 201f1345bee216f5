/** Compares sides on one workload: they take turns on one machine, in one run. */

import { createHmac, randomBytes, randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { requests as allRequests } from './client.mjs'
import { sendLoad } from './load.mjs'
import { freePort, stop } from './processes.mjs'

/** @import { Headers, Request } from './client.mjs' */
/** @import { Child } from './processes.mjs' */
/** @import { Side } from '../peers/sides.mjs' */
/** @import { Workload } from './workloads.mjs' */

/**
 * A side with its server running.
 * @typedef {object} Contender
 * @property {Side} side
 * @property {number} port
 * @property {string} secret
 * @property {Headers} headers
 * @property {Child[]} programs
 * @property {Request[]} requests
 */

/**
 * What a turn has measured: responses per second, and the CPU time of one request in each of the side's
 * programs, in microseconds (on Linux only).
 * @typedef {{ rate: number, cpu: number[] }} Turn
 */

const warmUp = { seconds: 1, deletes: 3000 }
/** More than any side handles, so that ids and tokens, which are cheap to make, do not run out. */
const maximumPerSecond = 60_000
/** Maximum time to create the items that a store starts with, and those that one turn deletes. */
const createSeconds = { start: 300, turn: 30 }
const tokenLifetime = 24 * 60 * 60 // seconds; longer than any run

/**
 * Runs a workload on all sides that support it.
 * @param {Workload} workload
 * @param {Side[]} sides
 * @param {{ seconds: number, turns: number }} lengths
 * @param {(side: Side, number: number, turn: Turn) => void} onTurn called after each turn
 * @returns {Promise<Map<Side, Turn[]>>}
 * @throws {Error} when a side does not start, or when any response is missing or reports an error
 */
export async function takeTurns(workload, sides, { seconds, turns }, onTurn) {
  /** @type {Map<Side, Turn[]>} */
  const results = new Map()
  /** @type {Map<Contender, number>} the requests that each can handle in a turn */
  const contenders = new Map()
  try {
    for (const side of sides.filter(({ skips }) => !skips?.includes(workload.name))) {
      const contender = await enter(side, workload)
      contenders.set(contender, 0)
      const { rate } = await takeTurn(contender, workload, warmUp.seconds, warmUp.deletes)
      contenders.set(contender, Math.ceil(rate * seconds * 2))
      results.set(side, [])
    }
    for (let number = 1; number <= turns; number += 1) {
      for (const [contender, maximum] of contenders) {
        const turn = await takeTurn(contender, workload, seconds, maximum)
        results.get(contender.side)?.push(turn)
        onTurn(contender.side, number, turn)
      }
    }
  } finally {
    await stop(...[...contenders.keys()].flatMap(({ programs }) => programs))
  }
  return results
}

/**
 * Starts a side's server with the items that the workload begins with.
 * @param {Side} side
 * @param {Workload} workload
 * @returns {Promise<Contender>}
 */
async function enter(side, { kinds, items, isList, withNewTokens }) {
  const port = await freePort()
  const secret = randomBytes(32).toString('base64url')
  const headers = { Authorization: `Bearer ${signToken(secret, 'bench')}` }
  const programs = await side.start({ port, secret, list: isList ? items : 0 })
  const ids = await side.create({ port, headers }, items, createSeconds.start)
  const [id = ''] = ids
  if (ids.length < items) throw new Error(`${side.name}: creating the items took too long`)
  const requests = kinds.map((kind) => allRequests[kind](id))
  if (withNewTokens) for (const request of requests) request.once = 'token'
  return { side, port, secret, headers, programs, requests }
}

/**
 * @param {Contender} contender
 * @param {Workload} workload
 * @param {number} seconds
 * @param {number} deletes the most that the contender handles in this time
 * @returns {Promise<Turn>}
 */
async function takeTurn(contender, workload, seconds, deletes) {
  const { side, port, headers, requests, programs } = contender
  const { title, connections, pipelined, isList: waitsForLast = false } = workload
  const values = await valuesFor(contender, seconds * maximumPerSecond, deletes)
  const before = programs.map(cpuSeconds)
  const load = { port, headers, requests, values, connections, pipelined, seconds, waitsForLast }
  const { rate, answers } = await sendLoad(load).catch((cause) => {
    throw new Error(`${side.name}, ${title}: no valid turn`, { cause })
  })
  const cpu = programs.map((program, at) => cpuSeconds(program) - (before[at] ?? 0))
  return { rate, cpu: cpu.map((taken) => (taken / answers) * 1e6) }
}

/**
 * The CPU time that a program has used so far, as the kernel counts it, see proc(5).
 * @param {Child} program
 */
export function cpuSeconds({ pid }) {
  if (process.platform !== 'linux') return Number.NaN
  // The name of the program is in parentheses, and may hold anything.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) / 100 // ticks, wherever Node.js runs
}

/**
 * What each request of a turn uses once: a new token, or the id of an item to delete.
 * @param {Contender} contender
 * @param {number} count
 * @param {number} deletes
 */
async function valuesFor({ side, port, headers, secret, requests }, count, deletes) {
  switch (requests.find(({ once }) => once !== undefined)?.once) {
    case 'id':
      return await side.create({ port, headers }, deletes, createSeconds.turn)
    case 'token':
      return Array.from({ length: count }, () => signToken(secret, randomUUID()))
    default:
      return undefined
  }
}

/**
 * A valid access token that names the caller `sub`: a JSON Web Token signed with HS256.
 * @param {string} secret
 * @param {string} sub
 */
export function signToken(secret, sub) {
  const iat = Math.floor(Date.now() / 1000)
  const parts = [
    { alg: 'HS256', typ: 'JWT' },
    { sub, iat, exp: iat + tokenLifetime },
  ]
  const signed = parts
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`
}
