/**
 * `node bench/workers.mjs`: how the two policies of `node:cluster` spread connections over two workers,
 * and what a new connection costs the primary process. Linux only; nothing is recorded.
 */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { makeReady, root } from '../scripts/ready.mjs'

const times = 40
const connections = 16
const newConnections = 5_000
const ask = 'GET /api/v1/health HTTP/1.1\r\nHost: a\r\n'
const tick = 10 // milliseconds, as in proc(5)

makeReady()
for (const policy of ['rr', 'none']) await measure(policy)

async function measure(policy) {
  const service = spawn(process.execPath, [join(root, 'dist/cli.js'), 'serve'], {
    env: {
      ...{ PORT: '0', HOST: '127.0.0.1', WORKERS: '2', JWT_SECRET: 'x'.repeat(32) },
      ...{ STORE_URL: 'redis+unix:///nowhere', NODE_CLUSTER_SCHED_POLICY: policy },
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const port = await portOf(service)
    const children = readFileSync(`/proc/${service.pid}/task/${service.pid}/children`, 'utf8')
    const pids = children.trim().split(' ')
    const most = []
    for (let time = 0; time < times; time += 1) most.push(await mostOf(pids, port))
    most.sort((a, b) => a - b)
    const before = cpuOf(service.pid)
    await Promise.all(Array.from({ length: connections }, () => connectAgain(port)))
    const cost = ((cpuOf(service.pid) - before) / newConnections) * 1000
    process.stdout.write(
      `${policy.padEnd(4)}: of ${connections} connections opened at once, the worker with more got ` +
        `${most[times / 2]} (median), ${most[times * 0.9]} (nine tenths), ${most.at(-1)} (most of all); ` +
        `${cost.toFixed(0)} µs of CPU in the primary process for each new one\n`,
    )
  } finally {
    service.kill()
    await once(service, 'exit')
  }
}

async function portOf({ stdout }) {
  for await (const text of stdout.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    const [, port] = /"url":"http:\/\/[^:]+:(\d+)"/.exec(text) ?? []
    if (port !== undefined) return Number(port)
  }
  throw new Error('the service did not start')
}

/** Opens connections at once, and counts those of the worker that has more. */
async function mostOf(pids, port) {
  const before = pids.map(socketsOf)
  const sockets = Array.from({ length: connections }, () => connect(port, '127.0.0.1'))
  for (const socket of sockets) socket.write(`${ask}\r\n`)
  await Promise.all(sockets.map((socket) => once(socket, 'data')))
  const counts = pids.map((pid, place) => socketsOf(pid) - before[place])
  for (const socket of sockets) socket.destroy()
  await delay(200) // until the service has closed them, too
  return Math.max(...counts)
}

/** Sends requests on a new connection each. */
async function connectAgain(port) {
  for (let n = 0; n < newConnections / connections; n += 1) {
    const socket = connect(port, '127.0.0.1').resume()
    socket.write(`${ask}Connection: close\r\n\r\n`)
    await once(socket, 'close')
  }
}

function socketsOf(pid) {
  const links = readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`))
  return links.filter((link) => link.startsWith('socket:')).length
}

/** Time that a process has been running, in milliseconds. */
function cpuOf(pid) {
  const [, fields = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')
  const [user, system] = fields.split(' ').slice(11, 13).map(Number)
  return (user + system) * tick
}
