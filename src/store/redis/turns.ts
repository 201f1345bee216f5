/**
 * Bounds what is on the way on one connection, so that neither end has to hold more than that: the rest
 * waits for its turn. How long an answer will be is not known, so each is taken to be as long as the
 * longest of late.
 *
 * @module
 */

import type { Reply } from './client.js'
import { BusyError } from './failures.js'

/** Bytes on the way, in commands and in answers. */
const mostBytes = 32 * 1024 * 1024
/** What an answer is taken to be at least, in bytes: with it, no more than 64 commands are on the way. */
const leastAnswer = 512 * 1024
/** What a later answer leaves of the longest one: a tenth after 44 short answers. */
const decay = 0.95

export interface Turns {
  /**
   * Calls when there is room, in the order in which it is asked.
   * @param bytes what the call sends. A single one may be longer than all that there is room for.
   * @throws {BusyError} when its turn does not come in time. Nothing was called then.
   */
  take<T extends Reply>(bytes: number, call: () => Promise<T>): Promise<T>
}

interface Waiting {
  readonly cost: () => number
  readonly start: () => void
}

/** @param time maximum time to wait for a turn, in milliseconds. */
export function createTurns(time: number): Turns {
  let onTheWay = 0
  let longest = mostBytes / 4 // until some are known
  const waiting = new Set<Waiting>()

  function hasRoom(cost: number): boolean {
    return onTheWay === 0 || onTheWay + cost <= mostBytes
  }

  async function run<T extends Reply>(cost: number, call: () => Promise<T>): Promise<T> {
    onTheWay += cost
    try {
      const answer = await call()
      longest = Math.max(lengthOf(answer), longest * decay, leastAnswer)
      return answer
    } finally {
      onTheWay -= cost
      startNext()
    }
  }

  function startNext(): void {
    for (const next of waiting) {
      if (!hasRoom(next.cost())) return
      next.start()
    }
  }

  return {
    take(bytes, call) {
      const cost = () => bytes + longest
      if (waiting.size === 0 && hasRoom(cost())) return run(cost(), call)
      return new Promise((resolve, reject) => {
        const turn: Waiting = {
          cost,
          start() {
            clearTimeout(timer)
            waiting.delete(turn)
            resolve(run(cost(), call))
          },
        }
        const timer = setTimeout(() => {
          waiting.delete(turn)
          reject(new BusyError(`no turn within ${time} ms`))
        }, time)
        waiting.add(turn)
      })
    },
  }
}

function lengthOf(reply: Reply): number {
  if (Array.isArray(reply)) return reply.reduce<number>((sum, part) => sum + lengthOf(part), 0)
  return Buffer.isBuffer(reply) ? reply.length : 0
}
