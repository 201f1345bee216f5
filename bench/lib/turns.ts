/** Compares implementations (sides) under one workload. They take turns on the same machine. */

import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Side } from '../peers/sides.js'
import { newAccess, signToken } from './access.js'
import { requests as allRequests, type Headers, type Request } from './client.js'
import { sendLoad } from './load.js'
import { type Child, stop } from './processes.js'
import type { Workload } from './workloads.js'

interface Contender {
  side: Side
  port: number
  secret: string
  headers: Headers
  programs: Child[]
  requests: Request[]
  deletes: number // number of items to create before a turn that deletes items
  turns: Turn[] // results so far
}

export interface Turn {
  rate: number // responses per second
  cpu: number[] // CPU time per request in microseconds, for each program of the side; `NaN` except on Linux
}

const warmUp = { seconds: 1, deletes: 3000 }
/** Number of new tokens for each second of a turn, more than any side can use. */
const maximumPerSecond = 60_000
/** Time limits for creating the initial items and the items that a turn deletes, in seconds. */
const createSeconds = { start: 300, turn: 30 }

/** @throws {Error} if a side does not start, or if a response is missing or reports an error */
export async function takeTurns(
  workload: Workload,
  sides: Side[],
  { seconds, turns }: { seconds: number; turns: number },
  onTurn: (side: Side, number: number, turn: Turn) => void,
): Promise<Map<Side, Turn[]>> {
  const contenders: Contender[] = []
  try {
    for (const side of sides.filter(({ skips }) => !skips?.includes(workload.name))) {
      const contender = await enter(side, workload)
      contenders.push(contender)
      const { rate } = await takeTurn(contender, workload, warmUp.seconds)
      contender.deletes = Math.ceil(rate * seconds * 2)
    }
    for (let number = 1; number <= turns; number += 1) {
      for (const contender of contenders) {
        const turn = await takeTurn(contender, workload, seconds)
        contender.turns.push(turn)
        onTurn(contender.side, number, turn)
      }
    }
  } finally {
    await stop(...contenders.flatMap(({ programs }) => programs))
  }
  return new Map(contenders.map(({ side, turns }) => [side, turns]))
}

async function enter(
  side: Side,
  { kinds, items, isList, withNewTokens }: Workload,
): Promise<Contender> {
  const { port, secret, headers } = await newAccess()
  const programs = await side.start({ port, secret, list: isList ? items : 0 })
  const ids = await side.create({ port, headers }, items, createSeconds.start)
  const [id = ''] = ids
  if (ids.length < items) throw new Error(`${side.name}: creating the items took too long`)
  const requests = kinds.map((kind) => allRequests[kind](id))
  if (withNewTokens) for (const request of requests) request.once = 'token'
  const { deletes } = warmUp
  return { side, port, secret, headers, programs, requests, deletes, turns: [] }
}

async function takeTurn(contender: Contender, workload: Workload, seconds: number): Promise<Turn> {
  const { port, headers, requests, programs } = contender
  const { connections, pipelined, isList: waitsForLast = false } = workload
  const values = await valuesFor(contender, seconds * maximumPerSecond)
  const before = programs.map(cpuSeconds)
  const load = { port, headers, requests, values, connections, pipelined, seconds, waitsForLast }
  const { rate, answers } = await sendLoad(load).catch((cause) => {
    throw new Error(`${contender.side.name}, ${workload.title}: no valid turn`, { cause })
  })
  const cpu = programs.map((program, at) => cpuSeconds(program) - (before[at] ?? 0))
  return { rate, cpu: cpu.map((taken) => (taken / answers) * 1e6) }
}

/** Returns the CPU time that a program has used so far, in seconds (proc(5)). */
function cpuSeconds({ pid }: Child) {
  if (process.platform !== 'linux') return Number.NaN
  // Skips the name of the program, which may contain spaces and parentheses.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) / 100 // clock ticks; 100 per second on every system with Node.js
}

/** Returns a token, or the id of an item to delete, for each request; `undefined` if requests need neither. */
async function valuesFor(
  { side, port, headers, secret, requests, deletes }: Contender,
  count: number,
) {
  switch (requests.find(({ once }) => once !== undefined)?.once) {
    case 'id':
      return await side.create({ port, headers }, deletes, createSeconds.turn)
    case 'token':
      return Array.from({ length: count }, () => signToken(secret, randomUUID()))
    default:
      return undefined
  }
}
