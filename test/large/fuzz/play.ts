/** Plays one client of a conversation, and records what it sends and receives. */

import { connect, type Socket } from 'node:net'
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import { answerReader } from '../../support/socket.js'
import type { ConnectionPlan } from './conversation.js'
import type { Request } from './request.js'

export type Played = Awaited<ReturnType<typeof play>>

export async function play(
  url: URL,
  plan: ConnectionPlan,
  requests: readonly Request[],
  waitLimit: number,
) {
  const socket = connect({ port: Number(url.port), host: url.hostname, allowHalfOpen: true })
  const last = requests.at(-1)
  // The response to an incomplete head has a body, even if the method is HEAD.
  const isHeadCut = (last?.bytes.length ?? 0) - plan.unsent < (last?.headLength ?? 0)
  const reader = answerReader((place) => {
    const request = requests[place]
    return request?.isHead === true && !(request === last && isHeadCut)
  })
  let [read, sentBytes] = [0, 0]
  let error: string | undefined
  let isEnded = false // the service has closed its side of the connection
  let isLate = false // the service was too slow to respond or to close the connection
  socket.setNoDelay(true)
  socket.on('data', (chunk) => {
    read += chunk.length
    if (plan.ending.kind === 'reset while reading' && read >= plan.ending.bytes) {
      socket.resetAndDestroy()
    }
    reader.take(chunk)
    if (plan.reading === 'slow' && read < 400_000) {
      socket.pause()
      setTimeout(() => socket.resume(), 3)
    }
  })
  socket.on('error', ({ code }: NodeJS.ErrnoException) => {
    error = code
  })
  for (const event of ['end', 'close']) {
    socket.on(event, () => {
      isEnded = true
    })
  }

  async function until(check: () => boolean): Promise<boolean> {
    let before = read
    for (let end = performance.now() + waitLimit; !check(); await delay(1)) {
      if (read > before) end = performance.now() + waitLimit
      if (performance.now() > end) return false
      before = read
    }
    return true
  }

  const bytes = Buffer.concat(requests.map((request) => request.bytes))
  const end = bytes.length - Math.min(plan.unsent, requests.at(-1)?.bytes.length ?? 0)
  const limit = plan.ending.kind === 'reset while sending' ? plan.ending.bytes : end
  if (plan.reading === 'never') socket.pause()
  await delay(plan.pause)
  let start = 0
  for (const stop of pieceEnds(plan.pieces, Math.min(end, limit))) {
    if (socket.destroyed) break
    sentBytes = stop // at most, if the connection ends during the write
    await written(socket, bytes.subarray(start, stop))
    start = stop
    if (plan.pause > 0) await delay(plan.pause)
    else await nextTurn()
  }
  const whole = requests.slice(0, requests.findIndex(({ isLast }) => isLast) + 1 || undefined)
  const ending = plan.reading === 'never' ? 'leave' : plan.ending.kind
  if (ending === 'leave') await delay(plan.pause)
  if (ending === 'wait' && end === bytes.length) {
    isLate = !(await until(() => isEnded || reader.answers.length >= whole.length))
    await delay(2) // leaves time for an unexpected response
  }
  if (ending === 'reset while sending') socket.resetAndDestroy()
  else if (ending !== 'leave') {
    socket.end()
    const hasEnded = await until(() => isEnded)
    isLate ||= !hasEnded && ending !== 'reset while reading'
  }
  socket.destroy()
  return { plan, requests, reader, sentBytes, error, isEnded, isLate }
}

function pieceEnds(lengths: readonly number[], end: number): number[] {
  let at = 0
  const ends = lengths.map((length) => {
    at += length
    return at
  })
  return [...ends.filter((each) => each < end), end]
}

/** Writes bytes, but waits only briefly, because the service might never read them. */
async function written(socket: Socket, bytes: Buffer): Promise<void> {
  await Promise.race([new Promise((resolve) => socket.write(bytes, resolve)), delay(50)])
}
