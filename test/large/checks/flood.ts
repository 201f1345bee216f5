/** `npm run check -- flood` sends endless pipelined requests to a service with a small heap. */

import { Agent } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { create, listed } from '../../conformance/expect.js'
import { keptClient } from '../../support/kept-client.js'
import { cli, type OwnService, ownService } from '../../support/own-service.js'
import { ownProcess, residentBytes } from '../../support/process.js'
import { numbers, say } from '../../support/report.js'

const allowed = { memory: 150, p99: 250 } // MB of growth, and ms for 99% of responses

const { heap, connections, seconds } = numbers({ heap: 128, connections: 40, seconds: 10 })

const clients = fileURLToPath(new URL('./flood-clients.js', import.meta.url))
const items = 100
const list = '/api/v1/items'
const floods: { title: string; path: string; token?: (service: OwnService) => string }[] = [
  { title: 'health', path: '/api/v1/health' },
  { title: 'unknown paths', path: '/nowhere' },
  { title: 'invalid tokens', path: list, token: (service) => `${service.validToken()}x` },
  { title: 'valid tokens', path: list, token: (service) => service.validToken() },
]
let isGood = true
for (const { title, path, token } of floods) {
  const node = [process.execPath, `--max-old-space-size=${heap}`] as const
  const service = await ownService({}, [...node, cli, 'serve'])
  const authorization = token === undefined ? '' : `Authorization: Bearer ${token(service)}\r\n`
  const text = `GET ${path} HTTP/1.1\r\nHost: a\r\n${authorization}\r\n`
  isGood = (await survives(service, title, text)) && isGood
}
process.exit(isGood ? 0 : 1)

async function survives(service: OwnService, title: string, request: string): Promise<boolean> {
  const { child } = service
  const isAlive = () => child.exitCode === null && child.signalCode === null
  let id = ''
  for (let n = 0; n < items; n += 1) ({ id } = await create(service, { n }))
  await delay(1000)
  const idle = residentBytes(service)
  const args = [service.baseUrl.port, String(connections), request]
  const flood = ownProcess([process.execPath, clients, ...args], { cwd: '.', env: process.env })

  const agent = new Agent({ keepAlive: true })
  const call = keptClient(service, agent)
  const times: number[] = []
  let failed = 0
  let peak = idle
  const end = performance.now() + seconds * 1000
  while (performance.now() < end && isAlive()) {
    const start = performance.now()
    const { status } = await call('GET', `/items/${id}`)
    times.push(performance.now() - start)
    if (status !== 200) failed += 1
    if (isAlive()) peak = Math.max(peak, residentBytes(service))
    await delay(10)
  }
  agent.destroy()
  flood.child.kill('SIGKILL')
  await flood.ended()

  const wasAlive = isAlive()
  const found = wasAlive ? (await listed(service)).length : 0
  if (wasAlive) await service.stop()
  times.sort((a, b) => a - b)
  const p99 = times[Math.floor(times.length * 0.99)] ?? 0
  const growth = (peak - idle) / 2 ** 20
  say(
    `${title.padEnd(14)} ${wasAlive ? 'alive' : 'ENDED'}; items found: ${found} of ${items}; ` +
      `memory: ${growth.toFixed(0)} MB more at most; well-behaved client: ${times.length} requests, ` +
      `${failed} failed, p99 ${p99.toFixed(1)} ms, max ${times.at(-1)?.toFixed(0)} ms`,
  )
  return wasAlive && found === items && growth <= allowed.memory && p99 <= allowed.p99
}
