/** `npm run check -- soak` checks that the service's memory stays constant under load. */

import { setTimeout as delay } from 'node:timers/promises'
import { listed } from '../../conformance/expect.js'
import { assertRefused } from '../../decisions/expect.js'
import { startLoad } from '../../support/item-load.js'
import { ownService } from '../../support/own-service.js'
import { residentBytes } from '../../support/process.js'
import { numbers, say } from '../../support/report.js'

const { minutes } = numbers({ minutes: 10 })
const clients = 15
const heldItems = 5000
const allowedGrowth = 0.05

const bad: [path: string, body: string, status: number, code: string][] = [
  ['/items', '{"data":[]}', 422, 'VALIDATION_ERROR'],
  ['/items', `{"data":${'['.repeat(50_000)}}`, 422, 'VALIDATION_ERROR'],
  ['/items', '\uFFFE', 422, 'VALIDATION_ERROR'],
  ['/nowhere', '{}', 404, 'ROUTE_NOT_FOUND'],
  ['/health', '{}', 405, 'METHOD_NOT_ALLOWED'],
]

const service = await ownService()
const samples: number[] = []
const sampler = setInterval(() => samples.push(residentBytes(service) / 2 ** 20), 1000)
const load = startLoad(service, {
  clients,
  pause: 0,
  lengthOf: (version) => Math.floor((version % 50 === 0 ? 20_000 : 400) * ((version * 0.618) % 1)),
  wantsMore: (own) => own < heldItems / clients,
})
let rounds = 0
let problem: unknown
try {
  for (const end = Date.now() + minutes * 60_000; Date.now() < end; rounds += 1) {
    for (const [path, body, status, code] of bad) {
      const token = service.validToken()
      assertRefused(await service.request('POST', path, { token, body }), status, code)
    }
    await listed(service)
    await delay(100)
  }
  await load.stop()
} catch (error) {
  problem = error
}
clearInterval(sampler)
const [code] = await service.stop()
for (const [status, count] of [...load.statuses].sort()) say(`${status}: ${count}`)
say(`lists: ${rounds}; invalid requests: ${rounds * bad.length}`)
if (problem !== undefined) say(`unexpected: ${problem}`)
say(`exit code of the service: ${code}`)
const settled = samples.slice(Math.min(60, samples.length >> 1))
const tenth = Math.max(1, Math.floor(settled.length / 10))
const [before, after] = [median(settled.slice(0, tenth)), median(settled.slice(-tenth))]
const growth = after / before - 1
say(`resident memory in MB: ${before.toFixed(1)} before, ${after.toFixed(1)} after`)
const isServed = problem === undefined && !load.statuses.has(503) && code === 0
process.exit(isServed && growth <= allowedGrowth ? 0 : 1)

function median(numbers: number[]): number {
  return [...numbers].sort((a, b) => a - b)[numbers.length >> 1] ?? Number.NaN
}
