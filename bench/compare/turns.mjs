/** Compares the sides on one workload: they take turns on one machine, in one run. */

import { randomBytes, randomUUID } from 'node:crypto'
import { rawRequest, sendOne } from '../lib/client.mjs'
import { anyId } from '../lib/item.mjs'
import { freePort, stop } from '../lib/processes.mjs'
import { signToken } from '../lib/token.mjs'
import { runTurn } from '../load/turn.mjs'

const warmUpSeconds = 1
const warmUpDeletes = 3000
/** More than any side handles, so that ids and tokens, which are cheap to make, do not run out. */
const maximumPerSecond = 60_000
/** Maximum time to create the items that a store starts with, and those that one turn deletes. */
const createSeconds = { start: 300, turn: 30 }

/**
 * Runs a workload on all sides that support it.
 * @param onTurn called after each turn with the side, the number of the turn, and its rate or an error message.
 * @returns by name of the side: its rates, or an error message.
 */
export async function compare(workload, sides, { seconds, turns }, onTurn) {
  const results = new Map()
  const contenders = []
  try {
    for (const side of sides.filter((each) => supports(each, workload))) {
      await attempt(side, 0, async () => {
        const contender = await enter(side, workload)
        contenders.push(contender)
        await warmUp(contender, workload)
        results.set(side.name, [])
      })
    }
    for (let number = 1; number <= turns; number += 1) {
      for (const contender of contenders) {
        const rates = results.get(contender.side.name)
        if (!Array.isArray(rates)) continue
        await attempt(contender.side, number, async () => {
          const { rate } = await takeTurn(contender, workload, seconds)
          rates.push(rate)
          onTurn(contender.side, number, rate)
        })
      }
    }
  } finally {
    await stop(...contenders.flatMap(({ programs }) => programs))
  }
  return results

  /** A side that fails has no result for this workload; the others continue. */
  async function attempt(side, number, action) {
    try {
      await action()
    } catch (error) {
      const message = error.message.replaceAll(/\s+/g, ' ').slice(0, 300)
      results.set(side.name, message)
      onTurn(side, number, message)
    }
  }
}

function supports(side, workload) {
  return !side.leavesOut?.includes(workload.name) && (side.token || !workload.needsToken)
}

/** Starts a side's server with the items that the workload begins with, and checks its responses. */
async function enter(side, workload) {
  const port = await freePort()
  const secret = randomBytes(32).toString('base64url')
  const headers = side.token ? { Authorization: `Bearer ${signToken(secret, 'bench')}` } : {}
  const list = workload.isList ? workload.items : 0
  const { programs, ids } = await side.start({ port, secret, items: workload.items, list })
  const contender = { side, port, secret, headers, programs, deletesPerSecond: 0 }
  contender.ids = ids ?? (await side.create(contender, workload.items, createSeconds.start))
  if (contender.ids.length < workload.items) throw new Error('creating the items took too long')
  contender.requests = workload.requests(side.requests, contender.ids[0])
  await check(contender)
  return contender
}

/** Sends each request once, to see that it gets the expected status. */
async function check(contender) {
  const lines = await linesFor(contender, 10)
  for (const request of contender.requests) {
    const line = lines?.shift()
    const headers =
      request.lines === 'token' ? { Authorization: `Bearer ${line}` } : contender.headers
    const text = rawRequest({ ...request, headers })
    const { status, body } = await sendOne(contender.port, line ? text.replace(anyId, line) : text)
    if (status !== request.status) {
      throw new Error(`${request.method} ${request.path} was answered ${status} ${body}`)
    }
  }
}

/** A turn that does not count; it also shows how many deletes a side can handle. */
async function warmUp(contender, workload) {
  const lines = await linesFor(contender, warmUpDeletes, warmUpSeconds)
  const { rate } = await load(contender, workload, lines, warmUpSeconds)
  contender.deletesPerSecond = rate
}

async function takeTurn(contender, workload, seconds) {
  const deletes = Math.ceil(contender.deletesPerSecond * seconds * 2)
  return load(contender, workload, await linesFor(contender, deletes, seconds), seconds)
}

function load(contender, workload, lines, seconds) {
  const { port, headers, requests } = contender
  const { connections, isList } = workload
  return runTurn({ port, headers, requests, lines, connections, seconds, drain: isList })
}

/** What each request of a turn uses once: a new id, a new token, or the id of an item to delete. */
async function linesFor(contender, deletes, seconds = 0) {
  const kind = contender.requests.find(({ lines }) => lines !== undefined)?.lines
  const count = seconds === 0 ? deletes : seconds * maximumPerSecond
  switch (kind) {
    case 'existing':
      return contender.side.create(contender, deletes, createSeconds.turn)
    case 'token':
      return Array.from({ length: count }, () => signToken(contender.secret, randomUUID()))
    case 'unused':
      return Array.from({ length: count }, () => randomUUID())
    default:
      return undefined
  }
}
