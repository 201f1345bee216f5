/** Several workers on one port and one engine: what clients and operators see of them. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { createServer } from 'node:net'
import { constants, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { type Answer, noAnswer, readAnswer, timeForAnswer } from './conformance/client.js'
import { itemOf } from './conformance/expect.js'
import { type OwnProcess, ownProcess } from './support/own-process.js'
import { cli, type OwnService, ownService } from './support/own-service.js'
import { catches, freePort, isRunning, workersOf } from './support/process.js'
import { describeWithRedis, ownRedis } from './support/redis.js'
import { firstText, headOf, openSocket, openSockets } from './support/socket.js'
import { until } from './support/until.js'

const JWT_SECRET = 'a secret of at least thirty-two bytes'
/** For `NODE_OPTIONS`: what is done every second is done six times as often, so that 30 of them are 5 seconds. */
const sixTimesFaster = `--import=data:text/javascript,${encodeURIComponent(
  'const { setInterval: real } = globalThis; globalThis.setInterval = (run, ms, ...rest) => real(run, ms / 6, ...rest)',
)}`
/** No answer of the engine is late on a busy machine. */
const STORE_TIMEOUT = '20s'
const redis = ownRedis()
await redis.start()
const METRICS_PORT = String(await freePort())
const service = await serviceWith({ METRICS_PORT, LOG_LEVEL: 'debug' })

function serviceWith(env: NodeJS.ProcessEnv): Promise<OwnService> {
  return ownService({ WORKERS: '2', STORE_URL: redis.url, STORE_TIMEOUT, ...env })
}

interface Client {
  /** The worker that it is connected to. */
  readonly worker: number
  call(method: string, path: string, value?: unknown): Promise<Answer>
}

/** Sends requests over one connection, which is made anew only when it was closed, or over one for each. */
function connect({ baseUrl, validToken }: OwnService, keepAlive = true): Client['call'] {
  const agent = new Agent({ keepAlive, maxSockets: 1 })
  after(() => agent.destroy())
  const authorization = `Bearer ${validToken()}`
  return (method, path, value) =>
    new Promise((resolve, reject) => {
      const headers = { authorization, 'content-type': 'application/json' }
      const url = new URL(baseUrl.pathname + path, baseUrl)
      const sent = request(url, { method, agent, headers, timeout: timeForAnswer(false) })
      sent.on('response', (response) => readAnswer(response).then(resolve, reject))
      sent.on('timeout', () => sent.destroy(noAnswer(`${method} ${path}`)))
      sent.on('error', (error) => reject(Object.assign(error, { isNew: !sent.reusedSocket })))
      sent.end(value === undefined ? undefined : JSON.stringify(value))
    })
}

/** The worker that has logged that it answered; the log level has to be `debug`. */
function workerBehind(answer: Answer): Promise<number> {
  const id = answer.headers['x-session-id']
  return until(`a log line of ${id}`, () => {
    const line = service.log.find(({ session_id }) => session_id === id)
    return line && Number(line.worker)
  })
}

/** What the log says of a worker. */
function logged(worker: number, message: string): Record<string, unknown>[] {
  return service.log.filter((line) => line.worker === worker && line.msg === message)
}

function timeOf(line: Record<string, unknown> | undefined): number {
  return Date.parse(String(line?.time))
}

async function killWorker(number: number): Promise<void> {
  const pid = await until(`worker ${number}`, () => workersOf(service).get(number))
  process.kill(pid, 'SIGKILL')
}

function pidsOfBoth(own: OwnService): Promise<number[]> {
  return until('two workers', () => {
    const workers = workersOf(own)
    return workers.size === 2 && [...workers.values()]
  })
}

/** A connection to each of two workers. */
async function clientOfEach(): Promise<[Client, Client]> {
  const found = new Map<number, Client>()
  return await until('a connection to each worker', async () => {
    const call = connect(service)
    const worker = await workerBehind(await call('GET', '/health'))
    found.set(worker, { worker, call })
    const [first, second] = [found.get(1), found.get(2)]
    return first && second && [first, second]
  })
}

async function scrape(port = METRICS_PORT): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`)
  assert.equal(response.status, 200)
  return await response.text()
}

/** The value of a metric, which has to be there once. */
function numberOf(metrics: string, name: string): number {
  const lines = metrics.split('\n').filter((line) => line.startsWith(`${name} `))
  assert.equal(lines.length, 1, `${name} in\n${metrics}`)
  return Number(lines[0]?.slice(name.length))
}

const created = 'item_store_requests_total{route="/api/v1/items",method="POST",status="201"}'
const read = 'item_store_requests_total{route="/api/v1/items/{item_id}",method="GET",status="200"}'

/** What clients that create items without a pause have seen. */
interface Outcome {
  readonly ids: string[]
  readonly broken: string[]
}

/** Creates items until no connection can be made or it is over. */
async function keepCreating(
  outcome: Outcome,
  isOver: () => boolean,
  keepAlive = true,
): Promise<void> {
  const call = connect(service, keepAlive)
  while (!isOver()) {
    try {
      outcome.ids.push(itemOf(await call('POST', '/items', { data: {} }), 201).id)
    } catch (error) {
      const { code, message, isNew }: NodeJS.ErrnoException & { isNew: boolean } = Object(error)
      if (code === 'ECONNREFUSED') return
      outcome.broken.push(`${code ?? message}${isNew ? ' on a new connection' : ''}`)
      if (outcome.broken.length > 2) return
    }
  }
}

describeWithRedis('two workers', () => {
  test('each sees at once what the other has created, over 1,000 operations in turn', async () => {
    const clients = await clientOfEach()
    const sessions: [creating: Answer, reading: Answer][] = []
    for (let n = 0; n < 500; n += 1) {
      const [writer, reader] = n % 2 === 0 ? clients : clients.toReversed()
      assert.ok(writer && reader)
      const creating = await writer.call('POST', '/items', { data: { n } })
      const reading = await reader.call('GET', `/items/${itemOf(creating, 201).id}`)
      assert.equal(reading.status, 200)
      sessions.push([creating, reading])
    }
    for (const [n, answers] of sessions.entries()) {
      const workers = await Promise.all(answers.map((answer) => workerBehind(answer)))
      assert.deepEqual(workers, n % 2 === 0 ? [1, 2] : [2, 1])
    }
  })

  test('the metrics are those of both, and of one store', async () => {
    for (let time = 0; time < 5; time += 1) {
      const metrics = await scrape()
      assert.equal(numberOf(metrics, created), 500)
      assert.equal(numberOf(metrics, read), 500)
      assert.equal(numberOf(metrics, 'item_store_tokens_total{outcome="accepted"}'), 1000)
      const count = 'item_store_request_duration_seconds_count'
      assert.equal(numberOf(metrics, `${count}{route="/api/v1/items",method="POST"}`), 500)
      assert.equal(numberOf(metrics, 'item_store_items'), 500)
      assert.equal(numberOf(metrics, 'item_store_workers'), 2)
      assert.ok(numberOf(metrics, 'process_resident_memory_bytes') > 150_000_000)
      assert.ok(numberOf(metrics, 'nodejs_eventloop_lag_p99_seconds') > 0)
      assert.ok(Math.abs(numberOf(metrics, 'process_start_time_seconds') - Date.now() / 1000) < 600)
    }
  })

  test('the log says once where they listen, and on their own lines which they are', () => {
    const listening = service.log.filter(({ msg }) => String(msg).startsWith('listening on'))
    assert.deepEqual(
      listening.map(({ url, worker }) => [url, worker]),
      [[service.baseUrl.origin, undefined]],
    )
    const answered = service.log.filter(({ msg }) => msg === 'answered')
    assert.deepEqual(new Set(answered.map(({ worker }) => worker)), new Set([1, 2]))
  })

  test('the heap is divided between them', async () => {
    const sizes = (await pidsOfBoth(service)).map((pid) => {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
      return Number(/--max-old-space-size=(\d+)\0/.exec(command)?.[1])
    })
    assert.ok(
      sizes.every((size) => size >= 64 && size === sizes[0]),
      `${sizes} MiB`,
    )
  })

  test('one is killed under load: the other serves on, it is replaced, and what it counted stays', async () => {
    const before = numberOf(await scrape(), created)
    const outcomes = Array.from({ length: 12 }, (): Outcome => ({ ids: [], broken: [] }))
    let isOver = false
    const clients = outcomes.map((outcome, place) =>
      keepCreating(outcome, () => isOver, place % 2 === 0),
    )
    const done = () => outcomes.reduce((sum, { ids }) => sum + ids.length, 0)
    const untilBusy = async () => {
      const before = outcomes.map(({ ids }) => ids.length)
      await until('all are busy', () =>
        outcomes.every(({ ids }, place) => ids.length > (before[place] ?? 0) + 20),
      )
    }
    await untilBusy()
    const counted = numberOf(await scrape(), created)
    const doneBefore = done()
    await killWorker(1)
    const counts = [counted]
    await until('it was replaced', async () => {
      counts.push(numberOf(await scrape(), created))
      return logged(1, 'worker replaced').length > 0
    })
    await untilBusy()
    isOver = true
    await Promise.all(clients)
    for (const { broken } of outcomes) {
      // Its own connection, and perhaps the next one, which was handed to the worker that was gone.
      assert.ok(broken.length <= 2, broken.join())
      for (const reason of broken) assert.match(reason, /^(ECONNRESET|EPIPE)/)
    }
    assert.deepEqual(
      counts,
      counts.toSorted((a, b) => a - b),
    )
    assert.equal(logged(1, 'worker ended with SIGKILL')[0]?.level, 50)

    const last = numberOf(await scrape(), created)
    const broken = outcomes.flatMap(({ broken }) => broken).length
    assert.ok(last <= before + done() + broken, `${last} of ${before} + ${done()} + ${broken}`)
    // Each client may have had an answer under way that was counted and could not be reported.
    const least = counted + done() - doneBefore - outcomes.length
    assert.ok(last >= least, `${last}, not ${least}`)
    // While nobody is served, nothing is lost.
    await killWorker(2)
    await until('it has ended', () => logged(2, 'worker ended with SIGKILL').length === 1)
    assert.equal(numberOf(await scrape(), created), last)
    assert.equal(numberOf(await scrape(), read), 500)
  })

  test('one that ends again and again is replaced ever more slowly', async () => {
    await killWorker(2) // which may not serve yet
    const [first, second] = await until('it has ended twice', () => {
      const ends = logged(2, 'worker ended with SIGKILL')
      return ends.length === 2 && ends
    })
    const replaced = await until('it was replaced then', () =>
      logged(2, 'worker replaced').find((line) => timeOf(line) >= timeOf(second)),
    )
    const wait = Number(second?.wait)
    // It was started after the first end, and is started again two seconds later.
    const least = 2_000 - (timeOf(second) - timeOf(first))
    assert.ok(wait >= least - 50, `${wait} of ${least} ms`)
    assert.ok(timeOf(replaced) - timeOf(second) >= wait - 50)
  })

  test('SIGTERM under load: no request is cut short, each item is there, exit code 0', async () => {
    const outcomes = Array.from({ length: 20 }, (): Outcome => ({ ids: [], broken: [] }))
    const clients = outcomes.map((outcome) => keepCreating(outcome, () => false))
    await until('all are busy', () => outcomes.every(({ ids }) => ids.length > 10))
    const pids = await pidsOfBoth(service)
    assert.ok(service.child.pid)
    process.kill(-service.child.pid, 'SIGTERM') // to all of them, as service managers do
    const exit = await service.ended() // first, as the clients go on for as long as it does
    await Promise.all(clients)
    for (const { ids, broken } of outcomes) {
      // One that was accepted, and that no worker had taken yet (docs/operations/workers.md).
      assert.ok(broken.length <= 1, broken.join())
      for (const reason of broken) assert.equal(reason, 'ECONNRESET on a new connection')
      const id = ids.at(-1) ?? ''
      const bucket = `item-store:{${Number.parseInt(id.slice(0, 4), 16) % 256}}`
      assert.equal(await redis.command('hexists', bucket, id), '1')
    }
    assert.deepEqual(exit, [0, null])
    assert.deepEqual(pids.filter(isRunning), [])
    const stopping = service.log.filter(({ msg }) => msg === 'SIGTERM: stopping')
    assert.deepEqual(
      stopping.map(({ worker }) => worker),
      [undefined],
    )
  })
})

describeWithRedis('workers', () => {
  test('end when the process that started them is killed, and answer what they have accepted', async () => {
    const NODE_OPTIONS = '--max-old-space-size=200'
    const service = await serviceWith({ NODE_OPTIONS })
    const pids = await pidsOfBoth(service)
    for (const pid of pids) {
      assert.doesNotMatch(readFileSync(`/proc/${pid}/cmdline`, 'utf8'), /old-space/)
    }
    const expect = 'Expect: 100-continue'
    const head = headOf(service, 'POST', '/items', 'Content-Length: 11', expect)
    const socket = openSocket(service.baseUrl, head)
    assert.match(await firstText(socket), /^HTTP\/1\.1 100 Continue\r\n/)
    service.child.kill('SIGKILL')
    await once(service.child, 'exit')
    socket.write('{"data":{}}')
    assert.match(await firstText(socket), /^HTTP\/1\.1 201 Created\r\n.*\r\nConnection: close\r\n/s)
    await until('all have ended', () => !pids.some(isRunning))
  })

  test('more than MAX_CONNECTIONS of each: those in excess are closed, the others served', async () => {
    const service = await serviceWith({ MAX_CONNECTIONS: '3' })
    const sockets = openSockets(service.baseUrl, 10)
    const open = () => sockets.filter(({ closed }) => !closed)
    await until('no more than three of each are open', () => open().length <= 6)
    assert.ok(open().length >= 3)
    for (const socket of open()) {
      socket.write(headOf(service, 'GET', '/health'))
      assert.match(await firstText(socket), /^HTTP\/1\.1 200 OK\r\n/)
    }
  })

  test('one that is stuck is killed and replaced; meanwhile the other tells what is in the store', async () => {
    const METRICS_PORT = String(await freePort())
    const service = await serviceWith({ METRICS_PORT, NODE_OPTIONS: sixTimesFaster })
    const log = (message: string) => service.log.filter(({ msg }) => msg === message)
    const stuck = await until('worker 1', () => workersOf(service).get(1))
    process.kill(stuck, 'SIGSTOP')
    const sockets = openSockets(service.baseUrl, 4)
    const answers = sockets.map((socket) => {
      socket.write(headOf(service, 'GET', '/health'))
      return firstText(socket).catch(() => 'closed')
    })
    const metrics = await scrape(METRICS_PORT)
    assert.equal(numberOf(metrics, 'item_store_workers'), 1)
    numberOf(metrics, 'item_store_items')
    numberOf(metrics, 'nodejs_eventloop_lag_p99_seconds')
    await until('it was replaced', () => log('worker replaced').length > 0)
    assert.ok(!isRunning(stuck))
    for (const message of [
      'worker has not responded for 30 s: killing it',
      'worker ended with SIGKILL',
      'worker replaced',
    ]) {
      assert.deepEqual(
        log(message).map(({ worker }) => worker),
        [1],
      )
    }
    // Only the connection that was handed to it is lost.
    const lost = (await Promise.all(answers)).filter((text) => !text.startsWith('HTTP/1.1 200 OK'))
    assert.ok(lost.length <= 1, lost.join())
  })

  test('one that cannot stop is killed after SHUTDOWN_TIMEOUT, exit code 1', async () => {
    const service = await serviceWith({ SHUTDOWN_TIMEOUT: '1' })
    const pids = await pidsOfBoth(service)
    assert.ok(pids[0])
    process.kill(pids[0], 'SIGSTOP')
    assert.deepEqual(await service.stop(), [1, null])
    await until('all have ended', () => !pids.some(isRunning))
  })

  for (const isReady of [false, true]) {
    for (const toAll of [false, true]) {
      const when = isReady ? 'while the workers wait for the engine' : 'before they run any code'
      test(`a signal to ${toAll ? 'all processes' : 'the first process'} ${when}: exit code 0`, async (t) => {
        await redis.kill('SIGSTOP')
        t.after(() => redis.kill('SIGCONT'))
        const own = starting()
        await until('two workers', () => {
          const pids = [...workersOf(own).values()]
          const handled = pids.filter((pid) => catches(pid, constants.signals.SIGHUP))
          return pids.length === 2 && (!isReady || handled.length === 2)
        })
        let output = ''
        own.child.stdout.on('data', (text) => {
          output += text
        })
        assert.ok(own.child.pid)
        process.kill(toAll ? -own.child.pid : own.child.pid, 'SIGINT')
        assert.deepEqual(await own.ended(), [0, null])
        assert.match(output, /^.*"msg":"SIGINT: stopping".*\n$/)
      })
    }
  }

  test('a port that is in use: the same line as of one process, once, exit code 2', async (t) => {
    const other = createServer().listen(0, '127.0.0.1')
    t.after(() => other.close())
    await once(other, 'listening')
    const address = other.address()
    assert.ok(address !== null && typeof address === 'object')
    const free = String(await freePort())
    for (const args of [
      ['--port', String(address.port)],
      ['--port', free, '--metrics-port', String(address.port)],
    ]) {
      const [one, three] = ['1', '3'].map((WORKERS) => serve({ WORKERS }, args))
      assert.equal(one?.status, 2)
      assert.match(one?.stderr ?? '', /^item-store: port \d+ is in use; .*\n$/)
      assert.deepEqual(three, one)
    }
  })
})

/** Two workers that do not serve yet; its errors go where its log goes. */
function starting(): OwnProcess {
  const command = ['sh', '-c', 'exec "$@" 2>&1', 'sh', process.execPath, cli, 'serve'] as const
  return ownProcess([...command, '--port', '0', '--host', '127.0.0.1'], {
    cwd: dirname(cli),
    env: { JWT_SECRET, STORE_URL: redis.url, STORE_TIMEOUT, WORKERS: '2' },
  })
}

function serve(env: NodeJS.ProcessEnv, args: string[] = [], command = 'serve') {
  const all = [cli, command, '--host', '127.0.0.1', ...args]
  const { status, stdout, stderr } = spawnSync(process.execPath, all, {
    cwd: dirname(cli),
    env: { JWT_SECRET, STORE_URL: redis.url, ...env },
    encoding: 'utf8',
    timeout: 20_000,
  })
  return { status, stdout, stderr }
}

const refused: { env: NodeJS.ProcessEnv; command?: string; says: RegExp }[] = [
  ...['0', 'x', '1.5', '257', '-1'].map((WORKERS) => ({
    env: { WORKERS },
    says: /^item-store: WORKERS is ".*" in the environment; expected a whole number from 1 to 256, or auto\n$/,
  })),
  {
    env: { WORKERS: '2', STORE_URL: '' },
    says: /^item-store: WORKERS \(2 in the environment\) needs STORE_URL: in process memory, each worker would have items of its own\n$/,
  },
  {
    env: { WORKERS: '2' },
    command: 'dev',
    says: /^item-store: WORKERS is 2, but dev serves as one process; leave it at 1\n$/,
  },
  {
    env: { WORKERS: '2', MAX_MEMORY_BYTES: '1MiB' },
    says: /^item-store: MAX_MEMORY_BYTES is 1MiB, but the idle process alone takes .*\n$/,
  },
]

for (const { env, command, says } of refused) {
  test(`${command ?? 'serve'} with ${JSON.stringify(env)} is refused with one line, exit code 2`, () => {
    const { status, stdout, stderr } = serve(env, [], command)
    assert.match(stderr, says)
    assert.deepEqual([status, stdout], [2, ''])
  })
}

test('one process loads nothing that only several need', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'item-store-'))
  const service = await ownService({ NODE_V8_COVERAGE: folder })
  await service.stop()
  const [file = ''] = readdirSync(folder)
  const loaded = readFileSync(join(folder, file), 'utf8')
  assert.match(loaded, /dist\/serve\.js/)
  assert.doesNotMatch(loaded, /dist\/worker/)
})
