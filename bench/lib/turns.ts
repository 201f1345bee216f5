/** Compares implementations (sides) under one workload. The sides take turns on the same machine. */

import { readFileSync } from 'node:fs'
import type { Side } from '../peers/sides.js'
import { newAccess, newToken } from './access.js'
import { requests as allRequests } from './client.js'
import { anyId } from './item.js'
import { sendLoad, type Target } from './load.js'
import { type Child, kill } from './processes.js'
import type { Workload } from './workloads.js'

interface Contender extends Target {
  side: Side
  secret: string
  programs: Child[]
  deletes: number // number of items to create before a turn that deletes items
  turns: Turn[]
}

export interface Turn {
  rate: number // responses per second
  cpu: number[] // CPU time per request in microseconds, for each program of the side; `NaN` except on Linux
}

const warmUp = { seconds: 1, deletes: 3000 }
/** Number of tokens to create for each second of a turn. No side can respond to as many requests. */
const maximumPerSecond = 60_000
/** Time limits for creating the initial items, and for creating the items that a turn deletes, in seconds. */
const createSeconds = { start: 300, turn: 30 }

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
    await kill(...contenders.flatMap(({ programs }) => programs))
  }
  return new Map(contenders.map(({ side, turns }) => [side, turns]))
}

async function enter(side: Side, workload: Workload): Promise<Contender> {
  const { kinds, items, isList, withNewTokens } = workload
  const { port, secret, headers } = await newAccess()
  const programs = await side.start({ port, secret, list: isList ? items : 0 })
  const ids = await side.create({ port, headers }, items, createSeconds.start)
  if (ids.length < items) throw new Error(`${side.name}: creating the items took too long`)
  const requests = kinds.map((kind) => allRequests[kind](ids[0] ?? ''))
  if (withNewTokens) headers.Authorization = `Bearer ${anyId}`
  return { side, port, secret, headers, programs, requests, deletes: warmUp.deletes, turns: [] }
}

async function takeTurn(contender: Contender, workload: Workload, seconds: number): Promise<Turn> {
  const { side, programs } = contender
  const values = await valuesFor(contender, workload, seconds)
  const before = programs.map(cpuSeconds)
  const { rate, answers } = await sendLoad(contender, workload, values, seconds).catch((cause) => {
    throw new Error(`${side.name}, ${workload.title}: no valid turn`, { cause })
  })
  const cpu = programs.map((program, at) => cpuSeconds(program) - (before[at] ?? 0))
  return { rate, cpu: cpu.map((taken) => (taken / answers) * 1e6) }
}

/** Returns the CPU time that a process has used so far, in seconds (proc(5)). */
function cpuSeconds({ pid }: Child) {
  if (process.platform !== 'linux') return Number.NaN
  // Skips the process name, which may contain spaces and parentheses.
  const [, fields = ''] = /^.*\) (.*)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? []
  const [user, system] = fields.split(' ').slice(11).map(Number)
  return ((user ?? 0) + (system ?? 0)) / 100 // clock ticks; 100 per second on every system with Node.js
}

/** Returns the values that replace `anyId`: for each request, a token or the id of an item to delete. */
async function valuesFor(
  { side, port, headers, secret, deletes }: Contender,
  { kinds, withNewTokens }: Workload,
  seconds: number,
) {
  if (kinds.includes('delete')) return side.create({ port, headers }, deletes, createSeconds.turn)
  const length = withNewTokens ? seconds * maximumPerSecond : 0
  return Array.from({ length }, () => newToken(secret))
}
