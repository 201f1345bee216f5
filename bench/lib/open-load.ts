/**
 * Sends requests at an even rate, whether or not earlier ones have been answered, and counts the latency
 * of each from when it was due: a server that pauses delays every request that was due meanwhile, also
 * those that had to wait for a connection. A process of its own, which never sleeps, as timers are too
 * coarse. Takes an `OpenLoad` as JSON, and prints an `OpenResult` as JSON.
 */

import { once } from 'node:events'
import { connect } from 'node:net'
import { median, quantile } from './statistics.js'

export interface OpenLoad {
  port: number
  requests: string[] // as they are sent over the wire, in rotation
  connections: number // each with at most one request in flight
  rate: number // requests per second
  seconds: number
}

/**
 * In milliseconds: median and 99th percentile of the latency, and the 99th percentile of how late a
 * request was sent although a connection was free, which is the fault of this process.
 */
export type OpenResult = { median: number; p99: number; ownDelay: number }

const warmUp = 1 // seconds at the same rate, not counted, mostly for the compiler of this process
const maximumDelay = 120 // seconds

const { port, requests, connections, rate, seconds }: OpenLoad = JSON.parse(process.argv[2] ?? '')
const uncounted = Math.round(rate * warmUp)
const total = uncounted + Math.round(rate * seconds)
const input = Buffer.alloc(65_536) // for all connections, as each chunk is handled when it is read
const latencies: number[] = []
const ownDelays: number[] = []
let sent = 0
let answered = 0

type Send = (request: string, due: number) => void

/** The connections without a request in flight, first the one that has been so for longest */
const idle: Send[] = []
await Promise.all(Array.from({ length: connections }, open))
setTimeout(fail, (warmUp + seconds + maximumDelay) * 1000, 'a response took too long').unref()
const start = performance.now()
setImmediate(turn)

/** Between two turns, the event loop reads what has arrived. */
function turn() {
  sendWhatIsDue()
  if (answered < total) setImmediate(turn)
  else finish()
}

function sendWhatIsDue() {
  while (sent < total) {
    const due = start + (sent / rate) * 1000
    if (due > performance.now()) return
    const send = idle.shift()
    if (!send) return
    send(requests[sent % requests.length] ?? '', due)
    sent += 1
  }
}

async function open() {
  const socket = connect({
    port,
    host: '127.0.0.1',
    noDelay: true,
    onread: { buffer: input, callback: read },
  })
  socket.on('close', () => fail('the server closed a connection'))
  let dueAt = 0
  let idleSince = 0
  let head = ''
  let received = 0
  let expected = Number.POSITIVE_INFINITY

  function send(request: string, due: number) {
    dueAt = due
    head = ''
    received = 0
    expected = Number.POSITIVE_INFINITY
    if (sent >= uncounted) ownDelays.push(performance.now() - Math.max(due, idleSince))
    socket.write(request, 'latin1')
  }

  function read(size: number) {
    received += size
    if (expected === Number.POSITIVE_INFINITY) {
      head += input.toString('latin1', 0, size)
      expected = lengthOf(head)
    }
    if (received > expected) fail('a response is longer than its Content-Length')
    if (received === expected) {
      idleSince = performance.now()
      if (answered >= uncounted) latencies.push(idleSince - dueAt)
      answered += 1
      idle.push(send)
    }
    return true
  }

  await once(socket, 'connect')
  idle.push(send)
}

/** The length of the response that begins with `text`, infinite if its head is not complete. */
function lengthOf(text: string) {
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return Number.POSITIVE_INFINITY
  if (!text.startsWith('HTTP/1.1 2')) fail(`a request was answered ${text.slice(0, end)}`)
  const [, length] = /\r\nContent-Length: (\d+)/i.exec(text) ?? fail('a response has no length')
  return end + 4 + Number(length)
}

function finish() {
  const result: OpenResult = {
    median: median(latencies),
    p99: quantile(latencies, 0.99),
    ownDelay: quantile(ownDelays, 0.99),
  }
  process.stdout.write(JSON.stringify(result), () => process.exit())
}

function fail(message: string): never {
  throw new Error(message)
}
