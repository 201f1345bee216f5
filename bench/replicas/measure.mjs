/** Runs the workloads on the stores and numbers of processes, turn by turn. */

import { randomBytes } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { cpuSeconds } from '../lib/cpu.mjs'
import { cores, freePort, startServer, stop } from '../lib/processes.mjs'
import { startRedis } from '../lib/redis.mjs'
import { signToken } from '../lib/token.mjs'
import { runTurn } from '../load/turn.mjs'
import itemStore from '../peers/item-store.mjs'

/** Cores of the processes of the service, and that of the engine: its own where there are four. */
const hasFour = availableParallelism() >= 4
export const serviceCores = hasFour ? [cores.server, 2] : [cores.server, cores.load]
export const engineCore = hasFour ? 3 : cores.load

const createSeconds = 60
const warmUpSeconds = 1

/**
 * Runs one workload on all sides, which take turns.
 * @param onTurn called after each turn with the side, its number and what was measured.
 * @returns by side: for each turn the responses per second (`rate`), and the processor time of one
 * request in the service (`service`) and in the engine (`engine`), in microseconds.
 */
export async function measure(workload, sides, { seconds, turns }, onTurn) {
  const contenders = []
  try {
    for (const side of sides) {
      const contender = await enter(side, workload)
      contenders.push(contender)
      await takeTurn(contender, workload, warmUpSeconds)
    }
    const results = new Map(sides.map((side) => [side, []]))
    for (let number = 1; number <= turns; number += 1) {
      for (const contender of contenders) {
        const measured = await takeTurn(contender, workload, seconds)
        results.get(contender.side).push(measured)
        onTurn(contender.side, number, measured)
      }
    }
    return results
  } finally {
    await stop(
      ...contenders.flatMap(({ service, engine }) => [service, engine?.program ?? service]),
    )
  }
}

/** Starts the service, and an engine for it if the side has one, with the items of the workload. */
async function enter(side, workload) {
  const port = await freePort()
  const secret = randomBytes(32).toString('base64url')
  const headers = { Authorization: `Bearer ${signToken(secret, 'bench')}` }
  const engine = side.hasEngine ? await startRedis({ core: engineCore }) : undefined
  const { args, env } = itemStore.program({ port, secret })
  const service = await startServer({
    port,
    args,
    core: serviceCores.slice(0, side.workers).join(','),
    env: {
      ...env,
      ...(engine && { STORE_URL: `redis://127.0.0.1:${engine.port}` }),
      ...(side.workers > 1 && { WORKERS: String(side.workers) }),
    },
  })
  const ids = await itemStore.create({ port, headers }, workload.items, createSeconds)
  if (ids.length < workload.items) throw new Error('creating the items took too long')
  const requests = workload.requests(itemStore.requests, ids[0])
  return { side, port, headers, service, engine, requests }
}

async function takeTurn({ port, headers, service, engine, requests }, workload, seconds) {
  const used = () => [cpuSeconds(service.pid), engine ? cpuSeconds(engine.program.pid) : 0]
  const before = used()
  const { connections, isList: drain } = workload
  const { rate, answers } = await runTurn({ port, headers, requests, connections, seconds, drain })
  const after = used()
  const perRequest = (place) => ((after[place] - before[place]) / answers) * 1e6
  return { rate, service: perRequest(0), engine: perRequest(1) }
}
