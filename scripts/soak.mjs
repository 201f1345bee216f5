/**
 * `npm run soak -- --minutes 10`: keeps the service busy with creates, reads, replaces, deletes,
 * lists and invalid input, checks every response, and watches the memory. Exits with code 1 if a
 * response was not the expected one, or if memory kept growing after the first minute.
 */

import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { makeReady, root } from './ready.mjs'

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '10' } } })
const minutes = Number(values.minutes)
if (!(minutes > 0)) throw new Error(`--minutes is "${values.minutes}"; expected a number above 0`)
const workers = 16
const heldItems = 5000
const allowedGrowth = 0.05

makeReady()
const { signToken } = await import('../build/src/auth/sign.js')
process.env.JWT_SECRET = randomBytes(32).toString('base64url')
const token = await signToken('soak', 7 * 24 * 3600)
const service = spawn(process.execPath, ['dist/cli.js', 'serve', '--port', '0'], {
  cwd: root,
  stdio: ['ignore', 'pipe', 'inherit'],
})
const [line] = await once(service.stdout, 'data')
const { port } = new URL(JSON.parse(String(line).split('\n', 1)[0]).url)
const agent = new Agent({ keepAlive: true, maxSockets: workers })

/** The stored items; one that a worker is using is taken out in the meantime. */
const ids = []
const counts = new Map()
const unexpected = []
const end = Date.now() + minutes * 60_000

/** What the workers do, weighted by how often. */
const acts = [
  ...Array(6).fill(['read', () => withItem(read)]),
  ...Array(3).fill(['replace', () => withItem(replace)]),
  ...Array(2).fill(['create', () => (ids.length < heldItems * 1.1 ? create() : withItem(remove))]),
  ...Array(2).fill(['delete', () => withItem(remove)]),
  ['bad', bad],
  ['list', () => (Math.random() < 0.05 ? list() : undefined)],
]

const samples = []
const sampler = setInterval(() => samples.push(residentMegabytes()), 1000)
await Promise.all(Array.from({ length: workers }, work))
clearInterval(sampler)
service.kill('SIGTERM')
const [code] = await once(service, 'exit')
report()

async function work() {
  while (Date.now() < end) {
    const [name, act] = pick(acts)
    const problem = await act()
    counts.set(name, (counts.get(name) ?? 0) + 1)
    if (problem !== undefined) unexpected.push(`${name}: ${problem}`)
  }
}

async function create() {
  const value = text()
  const { status, body } = await call('POST', '/items', `{"data":{"v":${value}}}`)
  if (status !== 201 || !body.includes(`"v":${value}`)) return `${status} ${body.slice(0, 200)}`
  ids.push({ id: JSON.parse(body).data.id, value })
  return undefined
}

async function withItem(use) {
  if (ids.length < heldItems) return await create()
  const at = Math.floor(Math.random() * ids.length)
  const item = ids[at]
  ids[at] = ids.at(-1)
  ids.pop()
  return await use(item)
}

function read(item) {
  return expect('GET', `/items/${item.id}`, undefined, 200, `"v":${item.value}}`, item)
}

function replace({ id }) {
  const value = text()
  const body = `{"data":{"v":${value}}}`
  return expect('PUT', `/items/${id}`, body, 200, `"v":${value}}`, { id, value })
}

function remove({ id }) {
  return expect('DELETE', `/items/${id}`, undefined, 204, '')
}

async function list() {
  const { status, body } = await call('GET', '/items')
  const isList = status === 200 && Array.isArray(JSON.parse(body).data)
  return isList ? undefined : `${status} ${body.slice(0, 200)}`
}

function bad() {
  const [path, body, status] = pick([
    ['/items', '{"data":[]}', 422],
    ['/items', '{"data":{"a":1,}}', 422],
    ['/items', `{"data":${'['.repeat(50_000)}}`, 422],
    ['/items', '\uFFFE', 422],
    ['/nowhere', '{}', 404],
    ['/health', '{}', 405],
  ])
  return expect('POST', path, body, status, 'session_id')
}

async function expect(method, path, sent, expected, part, item) {
  const { status, body } = await call(method, path, sent)
  if (item !== undefined) ids.push(item)
  return status === expected && body.includes(part) ? undefined : `${status} ${body.slice(0, 200)}`
}

function call(method, path, body) {
  return new Promise((resolve) => {
    const headers = { authorization: `Bearer ${token}` }
    if (body !== undefined) headers['content-length'] = Buffer.byteLength(body)
    const sent = request({ port, agent, method, path: `/api/v1${path}`, headers }, (response) => {
      const chunks = []
      response.on('data', (chunk) => chunks.push(chunk))
      response.on('end', () => {
        resolve({ status: response.statusCode, body: Buffer.concat(chunks).toString() })
      })
      response.on('error', (error) => resolve({ status: 0, body: String(error) }))
    })
    sent.on('error', (error) => resolve({ status: 0, body: String(error) }))
    sent.end(body)
  })
}

/** A JSON string of a length that is mostly small and sometimes large. */
function text() {
  const length = Math.random() < 0.02 ? 20_000 * Math.random() : 400 * Math.random()
  return `"${'x'.repeat(length)}${Math.random()}"`
}

function residentMegabytes() {
  const status = readFileSync(join('/proc', String(service.pid), 'status'), 'utf8')
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)[1]) / 1024
}

function report() {
  for (const [name, count] of [...counts].sort()) say(`${name.padEnd(8)} ${count}`)
  for (const problem of unexpected.slice(0, 20)) say(`unexpected: ${problem}`)
  const settled = samples.slice(Math.min(60, samples.length >> 1))
  const tenth = Math.max(1, Math.floor(settled.length / 10))
  const before = median(settled.slice(0, tenth))
  const after = median(settled.slice(-tenth))
  const growth = after / before - 1
  say(`unexpected responses: ${unexpected.length}; exit code of the service: ${code}`)
  say(
    `resident memory: ${before.toFixed(1)} MB after the first minute, ${after.toFixed(1)} MB at the end (${(growth * 100).toFixed(1)} %)`,
  )
  process.exit(unexpected.length > 0 || code !== 0 || growth > allowedGrowth ? 1 : 0)
}

function median(numbers) {
  return [...numbers].sort((a, b) => a - b)[numbers.length >> 1]
}

function pick(choices) {
  return choices[Math.floor(Math.random() * choices.length)]
}

function say(text) {
  process.stdout.write(`${text}\n`)
}
