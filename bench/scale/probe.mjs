/**
 * The probe: one connection that reads one item at a time, every two milliseconds, and measures how
 * long the response takes. A late response also delays the reads that were due in the meantime;
 * they are counted with the time they would have waited, as otherwise a stall of the server would
 * count as a single slow read. The probe's own stalls are recorded too, to tell them apart.
 */

import { connect } from 'node:net'
import { createHistogram, monitorEventLoopDelay } from 'node:perf_hooks'
import { answerReader, rawRequest } from '../lib/client.mjs'
import { interfaceRequests } from '../peers/interface.mjs'
import { answerWith, workerArguments } from './worker.mjs'

const interval = 2 // milliseconds
const timerResolution = 1 // milliseconds

const { port, headers } = workerArguments()
let current

answerWith({
  /** Starts reading the items with these ids, over and over. */
  async start(ids) {
    current = startReading(ids.map((id) => rawRequest({ ...interfaceRequests.read(id), headers })))
  },

  /** Stops, and returns the latencies in microseconds. */
  async stop() {
    return await current.stop()
  },
})

function startReading(texts) {
  const latencies = createHistogram({ lowest: 1, highest: 600_000_000, figures: 3 })
  const ownDelay = monitorEventLoopDelay({ resolution: timerResolution })
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  let turn = 0
  let sentAt = 0
  let failure
  let onStopped

  const read = answerReader((status) => {
    if (status !== 200) failure ??= new Error(`a read was answered ${status}`)
    const latency = performance.now() - sentAt
    for (let late = latency; late > 0; late -= interval) {
      latencies.record(Math.max(1, Math.round(late * 1000)))
    }
    if (onStopped) finish()
    else setTimeout(send, Math.max(0, interval - latency))
  })
  socket
    .on('data', read)
    .on('error', (error) => {
      failure ??= error
    })
    .on('close', () => {
      failure ??= new Error('the server closed the connection')
      if (onStopped) finish()
    })
  ownDelay.enable()
  send()

  function send() {
    if (onStopped) return finish()
    const text = texts[turn % texts.length]
    turn += 1
    sentAt = performance.now()
    socket.write(text)
  }

  function finish() {
    ownDelay.disable()
    socket.destroy()
    onStopped()
  }

  return {
    async stop() {
      await new Promise((resolve) => {
        onStopped = resolve
        if (failure) resolve()
      })
      if (failure) throw failure
      return {
        reads: turn,
        p50: latencies.percentile(50),
        p99: latencies.percentile(99),
        p999: latencies.percentile(99.9),
        max: latencies.max,
        ownStall: Math.max(0, ownDelay.max / 1000 - timerResolution * 1000),
      }
    },
  }
}
