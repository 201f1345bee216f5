/** `npm run check -- flood` pipelines endless requests to a service with a small heap. */

import { Agent } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { itemOf } from '../../conformance/expect.js'
import { keptClient } from '../../support/kept-client.js'
import { ownProcess } from '../../support/own-process.js'
import { cli, type OwnService, ownService } from '../../support/own-service.js'
import { residentBytes } from '../../support/process.js'
import { numbers, say } from '../../support/report.js'

/** Limits on memory growth in MB, and on the 99th percentile of response times in ms. */
const allowed = { memory: 150, p99: 250 }

const { heap, connections, seconds } = numbers({ heap: 128, connections: 40, seconds: 10 })

const clients = fileURLToPath(new URL('./flood-clients.js', import.meta.url))
const items = '/api/v1/items'
const floods: { title: string; path: string; token?: (service: OwnService) => string }[] = [
  { title: 'health', path: '/api/v1/health' },
  { title: 'unknown paths', path: '/nowhere' },
  { title: 'invalid tokens', path: items, token: (service) => `${service.validToken()}x` },
  { title: 'valid tokens', path: items, token: (service) => service.validToken() },
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
  const agent = new Agent({ keepAlive: true })
  const call = keptClient(service, agent)
  const ids: string[] = []
  for (let count = 0; count < 100; count += 1) {
    ids.push(itemOf(await call('POST', '/items', `{"data":{"n":${count}}}`), 201).id)
  }
  await delay(1000)
  const isAlive = () => child.exitCode === null && child.signalCode === null
  const idle = residentBytes(service)
  const args = [service.baseUrl.port, String(connections), request]
  const flood = ownProcess([process.execPath, clients, ...args], { cwd: '.', env: process.env })

  const times: number[] = []
  const errors = new Map<number, number>()
  let peak = idle
  const end = performance.now() + seconds * 1000
  while (performance.now() < end && isAlive()) {
    const start = performance.now()
    const { status } = await call('GET', `/items/${ids[times.length % ids.length]}`)
    times.push(performance.now() - start)
    if (status !== 200) errors.set(status, (errors.get(status) ?? 0) + 1)
    if (isAlive()) peak = Math.max(peak, residentBytes(service))
    await delay(10)
  }
  flood.child.kill('SIGKILL')
  await flood.ended()

  const wasAlive = isAlive()
  let found = 0
  if (wasAlive) {
    for (const id of ids) found += (await call('GET', `/items/${id}`)).status === 200 ? 1 : 0
    await service.stop()
  }
  agent.destroy()
  times.sort((a, b) => a - b)
  const percentile = (share: number) =>
    times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0
  const megabytes = (bytes: number) => (bytes / 2 ** 20).toFixed(0)
  const statuses = errors.size > 0 ? `; not 200: ${JSON.stringify([...errors])}` : ''
  say(
    `${title.padEnd(14)} ${wasAlive ? 'alive' : 'ENDED'}; items found: ${found} of ${ids.length}; ` +
      `memory: ${megabytes(idle)} MB idle, ${megabytes(peak - idle)} MB more at most; ` +
      `well-behaved client: ${times.length} requests, p50 ${percentile(0.5).toFixed(1)} ms, ` +
      `p99 ${percentile(0.99).toFixed(1)} ms, max ${percentile(1).toFixed(0)} ms${statuses}`,
  )
  const isSmall = peak - idle <= allowed.memory * 2 ** 20
  return wasAlive && found === ids.length && isSmall && percentile(0.99) <= allowed.p99
}
