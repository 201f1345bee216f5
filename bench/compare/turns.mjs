/** Compares the sides at one work: they take turns on one machine, in one run. */

import { randomBytes, randomUUID } from 'node:crypto'
import { rawRequest, sendOne } from '../lib/client.mjs'
import { anyId } from '../lib/item.mjs'
import { freePort, stop } from '../lib/processes.mjs'
import { signToken } from '../lib/token.mjs'
import { runTurn } from '../load/turn.mjs'

const warmUpSeconds = 1
const warmUpDeletes = 3000
/** More than any side gets through, so that lists that cost nothing to make do not run out. */
const mostPerSecond = 60_000
/** Longest time to create the items that a store starts with, and those of one turn of deletes. */
const createSeconds = { start: 300, turn: 30 }

/**
 * Runs a work on all sides that can do it.
 * @param onTurn told of each turn: side, its number, and its rate or what went wrong.
 * @returns a list of rates for each side by name, or the message of what went wrong.
 */
export async function compare(work, sides, { seconds, turns }, onTurn) {
  const results = new Map()
  const contenders = []
  try {
    for (const side of sides.filter((each) => canDo(each, work))) {
      await attempt(side, 0, async () => {
        const contender = await enter(side, work)
        contenders.push(contender)
        await warmUp(contender, work)
        results.set(side.name, [])
      })
    }
    for (let number = 1; number <= turns; number += 1) {
      for (const contender of contenders) {
        const rates = results.get(contender.side.name)
        if (!Array.isArray(rates)) continue
        await attempt(contender.side, number, async () => {
          const { rate } = await takeTurn(contender, work, seconds)
          rates.push(rate)
          onTurn(contender.side, number, rate)
        })
      }
    }
  } finally {
    await stop(...contenders.flatMap(({ programs }) => programs))
  }
  return results

  /** A side that fails has no result at this work; the others go on. */
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

function canDo(side, work) {
  return !side.leavesOut?.includes(work.name) && (side.token || !work.needsToken)
}

/** Starts a side's server with the items that the work begins with, and checks its answers. */
async function enter(side, work) {
  const port = await freePort()
  const secret = randomBytes(32).toString('base64url')
  const headers = side.token ? { Authorization: `Bearer ${signToken(secret, 'bench')}` } : {}
  const list = work.isList ? work.items : 0
  const { programs, ids } = await side.start({ port, secret, items: work.items, list })
  const contender = { side, port, secret, headers, programs, deletesPerSecond: 0 }
  contender.ids = ids ?? (await side.create(contender, work.items, createSeconds.start))
  if (contender.ids.length < work.items) throw new Error('creating the items took too long')
  contender.requests = work.requests(side.requests, contender.ids[0])
  await check(contender)
  return contender
}

/** Sends each request once, to see that it is answered as it should be. */
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

/** A turn that does not count; it also tells how many deletes a side can do. */
async function warmUp(contender, work) {
  const lines = await linesFor(contender, warmUpDeletes, warmUpSeconds)
  const { rate } = await load(contender, work, lines, warmUpSeconds)
  contender.deletesPerSecond = rate
}

async function takeTurn(contender, work, seconds) {
  const deletes = Math.ceil(contender.deletesPerSecond * seconds * 2)
  return load(contender, work, await linesFor(contender, deletes, seconds), seconds)
}

function load(contender, work, lines, seconds) {
  const { port, headers, requests } = contender
  const { connections, isList } = work
  return runTurn({ port, headers, requests, lines, connections, seconds, drain: isList })
}

/** What the requests of a turn use once each: new ids, new tokens, or ids of items to delete. */
async function linesFor(contender, deletes, seconds = 0) {
  const kind = contender.requests.find(({ lines }) => lines !== undefined)?.lines
  const count = seconds === 0 ? deletes : seconds * mostPerSecond
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
