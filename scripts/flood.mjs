/**
 * `npm run flood -- --heap 128 --connections 40 --seconds 60`: clients that pipeline requests without
 * end and read none of the responses, against a service with a small heap. Meanwhile a well-behaved
 * client measures how long its own requests take, and checks its items at the end. Exits with code 1 if
 * the service ended, an item was lost, or a limit below was exceeded.
 */

import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { makeReady, root } from './ready.mjs'

/** Limits: memory above that of the idle service, in MB, and 99th percentile of request times, in ms. */
const allowed = { memory: 150, p99: 250 }
/** What each connection sends at a time, in bytes, over and over. */
const burst = 128 * 1024

const { values } = parseArgs({
  options: {
    heap: { type: 'string', default: '128' },
    connections: { type: 'string', default: '40' },
    seconds: { type: 'string', default: '10' },
    flood: { type: 'string' }, // for the clients' process only: the port and the request
  },
})
const connections = Number(values.connections)
const seconds = Number(values.seconds)

if (values.flood !== undefined) flood(JSON.parse(values.flood))
else process.exitCode = await run()

/** Keeps all connections full of requests; those that are closed are opened again. */
function flood({ port, text }) {
  const bytes = Buffer.from(text.repeat(Math.ceil(burst / text.length)))
  const open = () => {
    const socket = connect(port, '127.0.0.1').pause()
    const send = () => {
      while (!socket.destroyed && socket.write(bytes));
    }
    socket.on('connect', send).on('drain', send)
    socket.on('error', () => undefined).on('close', () => setTimeout(open, 100))
  }
  for (let count = 0; count < connections; count += 1) open()
}

async function run() {
  makeReady()
  const { signToken } = await import('../build/src/auth/sign.js')
  process.env.JWT_SECRET = randomBytes(32).toString('base64url')
  const token = await signToken('flood', 7 * 24 * 3600)
  let isGood = true
  for (const [title, path, authorization] of [
    ['health', '/api/v1/health'],
    ['unknown paths', '/nowhere'],
    ['bad tokens', '/api/v1/items', `Bearer ${token}x`],
    ['good tokens', '/api/v1/items', `Bearer ${token}`],
  ]) {
    const header = authorization === undefined ? '' : `Authorization: ${authorization}\r\n`
    const text = `GET ${path} HTTP/1.1\r\nHost: a\r\n${header}\r\n`
    isGood = (await survives(title, text, token)) && isGood
  }
  return isGood ? 0 : 1
}

async function survives(title, text, token) {
  const service = spawn(
    process.execPath,
    [`--max-old-space-size=${values.heap}`, 'dist/cli.js', 'serve', '--port', '0'],
    { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const [line] = await once(service.stdout, 'data')
  service.stdout.resume()
  const { port } = new URL(JSON.parse(String(line).split('\n', 1)[0]).url)
  const agent = new Agent({ keepAlive: true })
  const call = (method, path, body) => send({ port, agent, method, path, body, token })

  const ids = []
  for (let count = 0; count < 100; count += 1) {
    const { text } = await call('POST', '/items', `{"data":{"n":${count}}}`)
    ids.push(JSON.parse(text).data.id)
  }
  await wait(1000)
  const idle = residentMegabytes(service)
  const clients = spawn(
    process.execPath,
    [
      fileURLToPath(import.meta.url),
      ...['--connections', String(connections), '--flood', JSON.stringify({ port, text })],
    ],
    { stdio: 'inherit' },
  )
  const times = []
  let peak = idle
  const errors = new Map()
  const end = performance.now() + seconds * 1000
  while (performance.now() < end && service.exitCode === null && service.signalCode === null) {
    const start = performance.now()
    const { status } = await call('GET', `/items/${ids[times.length % ids.length]}`)
    times.push(performance.now() - start)
    if (status !== 200) errors.set(status, (errors.get(status) ?? 0) + 1)
    peak = Math.max(peak, residentMegabytes(service) ?? peak)
    await wait(10)
  }
  clients.kill('SIGKILL')
  const isAlive = service.exitCode === null && service.signalCode === null
  let found = 0
  if (isAlive) {
    for (const id of ids) found += (await call('GET', `/items/${id}`)).status === 200 ? 1 : 0
    service.kill('SIGTERM')
    await once(service, 'exit')
  }
  agent.destroy()
  times.sort((a, b) => a - b)
  const p99 = times[Math.floor(times.length * 0.99)] ?? 0
  const more = peak - idle
  say(
    `${title.padEnd(14)} ${isAlive ? 'alive' : 'ENDED'}; items found: ${found} of ${ids.length}; ` +
      `memory: ${idle.toFixed(0)} MB idle, ${more.toFixed(0)} MB more at most; ` +
      `a good client: ${times.length} requests, p50 ${(times[times.length >> 1] ?? 0).toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, max ${(times.at(-1) ?? 0).toFixed(0)} ms` +
      (errors.size > 0 ? `; not 200: ${JSON.stringify([...errors])}` : ''),
  )
  return isAlive && found === ids.length && more <= allowed.memory && p99 <= allowed.p99
}

function send({ port, agent, method, path, body, token }) {
  return new Promise((resolve) => {
    const headers = { authorization: `Bearer ${token}` }
    const sent = request({ port, agent, method, path: `/api/v1${path}`, headers }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part) => {
        text += part
      })
      response.on('end', () => resolve({ status: response.statusCode, text }))
      response.on('error', () => resolve({ status: 0, text }))
    })
    sent.on('error', () => resolve({ status: 0, text: '' }))
    sent.end(body)
  })
}

function residentMegabytes({ pid }) {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024
  } catch {
    return undefined
  }
}

function say(text) {
  process.stdout.write(`${text}\n`)
}
