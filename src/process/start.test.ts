import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { UsageError } from '../config/usage-error.js'
import { memoryWarning } from './start.js'

const never = 'new Promise(() => undefined)'
const afterAWhile = 'new Promise((resolve) => setTimeout(resolve, 300))'
const failing = "Promise.reject(new Error('a planted error'))"
const throwing = "setTimeout(() => { throw new Error('a planted error') })"
const kill = (signal: string) => `process.kill(process.pid, '${signal}')`
const stopped = (signal: string) => new RegExp(`^info ${signal}: stopping\nstopped\n$`)
const uncaught = /fatal Error: a planted error\n {4}at .*uncaught error: stopping\nstopped\n$/s
const atOnce = /error second signal, SIGTERM: exiting at once\n$/
const tooLate = /error not stopped within 1 s: exiting at once\n$/
const notStopped = /\nfatal Error: a planted error\n.*stopping failed\n$/s
const atOneTime = 'performance.now = () => 1'
const twice = `${atOneTime}; for (const name of ['SIGINT', 'SIGINT', 'SIGHUP']) process.emit(name)`
const term = kill('SIGTERM')
const throwingAfterTerm = `process.on('SIGTERM', () => ${throwing}); ${term}`

/** `stop` is a JavaScript expression for what the stop function returns; `act` is a statement that ends the process. */
const ends: [title: string, stop: string, act: string, status: 0 | 1, log: RegExp, time?: 1][] = [
  ['SIGTERM', afterAWhile, term, 0, stopped('SIGTERM')],
  ['SIGINT', afterAWhile, kill('SIGINT'), 0, stopped('SIGINT')],
  ['SIGHUP', afterAWhile, kill('SIGHUP'), 0, stopped('SIGHUP')],
  ['signals at the same time', afterAWhile, twice, 0, stopped('SIGINT')],
  ['a second signal', never, `setInterval(() => ${term}, 200)`, 1, atOnce],
  ['a stop that takes longer than a second', never, term, 1, tooLate, 1],
  ['a stop that fails', failing, term, 1, notStopped],
  ['an uncaught error', afterAWhile, throwing, 1, uncaught],
  ['an unhandled rejection', afterAWhile, failing, 1, uncaught],
  ['an error during a stop', afterAWhile, throwingAfterTerm, 1, uncaught],
]
for (const [title, stop, act, status, log, timeout = 60] of ends) {
  test(`after ${title}, the process logs the reason and ends with exit code ${status}`, () => {
    const script = `
      import { handleShutdown } from ${JSON.stringify(new URL('start.js', import.meta.url).href)}
      const say = (level) => (...words) => console.log(level, ...words.map((word) => word.err?.stack ?? word))
      const log = { info: say('info'), error: say('error'), fatal: say('fatal') }
      const stop = () => ${stop}.then(() => console.log('stopped'))
      setInterval(() => undefined, 1000)
      handleShutdown(stop, ${timeout}, log)
      ${act}`
    const args = ['--input-type=module', '--eval', script]
    const run = spawnSync(process.execPath, args, { timeout: 300_000, killSignal: 'SIGKILL' })
    assert.equal(run.status, status)
    assert.match(String(run.stdout), log)
  })
}

const MiB = 1024 ** 2
const cases: [memory: number, store: number, verdict: 'serve' | 'warn' | 'refuse'][] = [
  [690, 450, 'serve'],
  [689, 450, 'warn'],
  [106, 1, 'serve'],
  [105, 1, 'refuse'],
]
for (const [memory, store, verdict] of cases) {
  test(`idle process 90 MiB, memory limit ${memory} MiB, store limit ${store} MiB: ${verdict}`, () => {
    const check = () => memoryWarning(90 * MiB, memory * MiB, store * MiB)
    if (verdict === 'refuse') assert.throws(check, UsageError)
    else assert.equal(check() !== undefined, verdict === 'warn')
  })
}

test('the error and the warning about memory give sizes in the format of settings', () => {
  const idleBytes = 90 * MiB - 1
  assert.throws(() => memoryWarning(idleBytes, 60_000_000, MiB), {
    message:
      'MAX_MEMORY_BYTES is 60MB, but the idle process alone takes 90MiB: item requests would be refused; allow at least 106MiB',
  })
  assert.equal(
    memoryWarning(idleBytes, 200 * MiB, 150 * MiB),
    'MAX_MEMORY_BYTES is 200MiB, but the idle process alone takes 90MiB and MAX_STORE_BYTES is 150MiB, of which a full store takes 4/3: item requests may get 503 before it is full',
  )
})
