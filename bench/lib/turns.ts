/** Compares implementations (sides) under one workload. The sides take turns on the same machine. */

import { readFileSync } from 'node:fs'
import type { Side } from '../peers/sides.js'
import { newAccess } from './access.js'
import { type Request, requests, usualPrefix } from './client.js'
import { sendLoad } from './load.js'
import { type Child, kill } from './processes.js'

export interface Workload {
  name: string
  title: string
  requestFor: (id: string) => Request
  connections: number
}

export interface Turn {
  rate: number // responses per second
  cpu: number[] // CPU time per request in microseconds, for each program of the side; `NaN` except on Linux
}

interface Contender {
  side: Side
  port: number
  request: Request
  programs: Child[]
  turns: Turn[]
}

export const items = 1000 // in the store before the first request

export const workloads: Workload[] = [
  { name: 'read', title: 'read', requestFor: requests.read, connections: 32 },
  { name: 'create', title: 'create', requestFor: () => requests.create(), connections: 32 },
  { name: 'list', title: 'list 1,000', requestFor: requests.list, connections: 4 },
]

const warmUp = 1 // seconds
const createTime = 60 // seconds

export async function takeTurns(
  workload: Workload,
  sides: Side[],
  { seconds, turns }: { seconds: number; turns: number },
  onTurn: (side: Side, number: number, turn: Turn) => void,
): Promise<Map<Side, Turn[]>> {
  const contenders: Contender[] = []
  try {
    for (const side of sides) {
      const contender = await enter(side, workload)
      contenders.push(contender)
      await takeTurn(contender, workload, warmUp)
    }
    for (let number = 1; number <= turns; number += 1) {
      for (const contender of contenders) {
        const turn = await takeTurn(contender, workload, seconds)
        contender.turns.push(turn)
        onTurn(contender.side, number, turn)
      }
    }
  } finally {
    await kill(...contenders.flatMap(({ programs }) => programs))
  }
  return new Map(contenders.map(({ side, turns }) => [side, turns]))
}

async function enter(side: Side, { name, requestFor }: Workload): Promise<Contender> {
  const { port, secret, headers } = await newAccess()
  const programs = await side.start({ port, secret, items, isList: name === 'list' })
  const ids = await side.create({ port, headers }, items, createTime)
  if (ids.length < items) throw new Error(`${side.name}: creating the items took too long`)
  const request = requestFor(ids[0] ?? '')
  const path = request.path.replace(usualPrefix, side.prefix ?? usualPrefix)
  return { side, port, request: { ...request, path, headers }, programs, turns: [] }
}

async function takeTurn(contender: Contender, { connections, title }: Workload, seconds: number) {
  const { side, port, request, programs } = contender
  const before = programs.map(cpuSeconds)
  const load = sendLoad(port, request, { connections, seconds })
  const { rate, answers } = await load.catch((cause) => {
    throw new Error(`${side.name}, ${title}: no valid turn`, { cause })
  })
  const cpu = programs.map((program, at) => cpuSeconds(program) - (before[at] ?? 0))
  return { rate, cpu: cpu.map((taken) => (taken / answers) * 1e6) }
}

/** Returns the CPU time of a process so far, in seconds (proc(5)). */
function cpuSeconds({ pid }: Child) {
  if (process.platform !== 'linux') return Number.NaN
  // Skips the process name, which may contain spaces and parentheses.
  const [, fields = ''] = /^.*\) (.*)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? []
  const [user, system] = fields.split(' ').slice(11).map(Number)
  return ((user ?? 0) + (system ?? 0)) / 100 // clock ticks; 100 per second on every system with Node.js
}
