/**
 * The probe: one connection that reads one item at a time, every two milliseconds, and measures the
 * longest time that a response takes. The probe's own stalls are recorded too, to tell them apart.
 */

import { connect } from 'node:net'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { answerReader, rawRequest } from '../lib/client.mjs'
import { answerWith } from './worker.mjs'

/** @typedef {{ longest: number, ownStall: number }} Waits in milliseconds */
/** @typedef {typeof actions} ProbeActions */

const interval = 2 // milliseconds
const timerResolution = 1 // milliseconds

const port = Number(process.argv[2])
/** @type {(() => Promise<Waits>) | undefined} */
let stopReading

const actions = {
  /**
   * Starts reading the items with these ids, over and over.
   * @param {string[]} ids
   */
  start(ids) {
    stopReading = startReading(ids.map((id) => rawRequest({ method: 'GET', path: `/${id}` })))
  },

  stop() {
    if (!stopReading) throw new Error('nothing is being read')
    return stopReading()
  },
}
answerWith(actions)

/**
 * Returns the function that stops it. A response other than an item ends the process.
 * @param {string[]} requests
 * @returns {() => Promise<Waits>}
 */
function startReading(requests) {
  const ownDelay = monitorEventLoopDelay({ resolution: timerResolution })
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  let turn = 0
  let sentAt = 0
  let longest = 0
  /** @type {((waits: Waits) => void) | undefined} */
  let onStopped

  const read = answerReader((status) => {
    if (status !== 200) throw new Error(`a read was answered ${status}`)
    const latency = performance.now() - sentAt
    longest = Math.max(longest, latency)
    setTimeout(next, Math.max(0, interval - latency))
  })
  socket.on('data', read).on('end', () => {
    throw new Error('the server closed the connection')
  })
  ownDelay.enable()
  next()

  function next() {
    if (onStopped) {
      ownDelay.disable()
      socket.destroy()
      onStopped({ longest, ownStall: Math.max(0, ownDelay.max / 1e6 - timerResolution) })
      return
    }
    const request = requests[turn % requests.length]
    if (request === undefined) throw new Error('no item to read')
    turn += 1
    sentAt = performance.now()
    socket.write(request)
  }

  return () =>
    new Promise((resolve) => {
      onStopped = resolve
    })
}
