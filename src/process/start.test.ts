import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { UsageError } from '../config/usage-error.js'
import { memoryWarning } from './start.js'

const afterAWhile = 'new Promise((resolve) => setTimeout(resolve, 300))'

/** Waits until the process handles signals. `stop` is code for the promise that `stop()` returns. */
async function run(stop: string, { timeout = 60, act = '' } = {}) {
  const script = `
    import { handleShutdown } from ${JSON.stringify(new URL('start.js', import.meta.url).href)}
    const say = (level) => (...words) => console.log(level, ...words.map((word) => word.err?.stack ?? word))
    const log = { info: say('info'), error: say('error'), fatal: say('fatal') }
    const stop = () => ${stop}.then(() => console.log('stopped'))
    setInterval(() => undefined, 1000)
    handleShutdown(stop, ${timeout}, log)
    console.log('ready')
    ${act}`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: 300_000,
    killSignal: 'SIGKILL',
  })
  const running = { child, exit: once(child, 'close'), printed: '' }
  child.stdout.on('data', (chunk) => {
    running.printed += String(chunk)
  })
  await once(child.stdout, 'data')
  return running
}

async function insist(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  const timer = setInterval(() => child.kill(signal), 200)
  await once(child, 'exit')
  clearInterval(timer)
}

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
  test(`${signal} stops the service, and then the process ends with exit code 0`, async () => {
    const running = await run(afterAWhile)
    running.child.kill(signal)
    assert.deepEqual(await running.exit, [0, null])
    assert.match(running.printed, new RegExp(`info ${signal}: stopping\nstopped\n$`))
  })
}

test('a second signal ends the process at once with exit code 1', async () => {
  const running = await run('new Promise(() => undefined)')
  await insist(running.child, 'SIGTERM')
  assert.deepEqual(await running.exit, [1, null])
  assert.match(running.printed, /error second signal, SIGTERM: exiting at once\n$/)
})

test('two signals at the same time count as one', async () => {
  const act = "process.emit('SIGINT'); process.emit('SIGINT'); process.emit('SIGHUP')"
  const running = await run(afterAWhile, { act })
  assert.deepEqual(await running.exit, [0, null])
})

test('if the service does not stop before the timeout, the process ends with exit code 1', async () => {
  const running = await run('new Promise(() => undefined)', { timeout: 1 })
  running.child.kill('SIGTERM')
  assert.deepEqual(await running.exit, [1, null])
  assert.match(running.printed, /error not stopped within 1 s: exiting at once\n$/)
})

test('if the service fails to stop, the process logs the error and ends with exit code 1', async () => {
  const running = await run("Promise.reject(new Error('a planted error'))")
  running.child.kill('SIGTERM')
  assert.deepEqual(await running.exit, [1, null])
  assert.match(running.printed, /\nfatal Error: a planted error\n.*stopping failed\n$/s)
})

const errors = {
  'an uncaught error': "setTimeout(() => { throw new Error('a planted error') })",
  'an unhandled rejection': "Promise.reject(new Error('a planted error'))",
  'an error while the service stops': `
    process.emit('SIGTERM')
    setTimeout(() => { throw new Error('a planted error') })`,
}

for (const [what, act] of Object.entries(errors)) {
  test(`${what} is logged with its stack, and the service stops with exit code 1`, async () => {
    const running = await run(afterAWhile, { act })
    assert.deepEqual(await running.exit, [1, null])
    const lines = /\nfatal Error: a planted error\n {4}at .*uncaught error: stopping\nstopped\n$/s
    assert.match(running.printed, lines)
  })
}

const MiB = 1024 ** 2
const cases: [memory: number, store: number, verdict: 'serve' | 'warn' | 'refuse'][] = [
  [590, 500, 'serve'],
  [589, 500, 'warn'],
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
    'MAX_MEMORY_BYTES is 200MiB, but the idle process alone takes 90MiB and MAX_STORE_BYTES is 150MiB: item requests may get 503 before the store is full',
  )
})
