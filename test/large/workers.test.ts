/** Several workers on one port and one engine: what clients and operators see of them. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import type { Answer } from '../conformance/client.js'
import { itemOf } from '../conformance/expect.js'
import { busyClients, type Call, connectTo } from '../support/kept-client.js'
import { type OwnProcess, ownProcess } from '../support/own-process.js'
import { cli, type OwnService, ownService } from '../support/own-service.js'
import { catches, freePort, isRunning, portInUse, workersOf } from '../support/process.js'
import { describeWithRedis, startedRedis } from '../support/redis.js'
import { firstText, headOf, openSocket, openSockets, wholeText } from '../support/socket.js'
import { until } from '../support/until.js'

const JWT_SECRET = 'a secret of at least thirty-two bytes'
/** No answer of the engine is late on a busy machine. */
const STORE_TIMEOUT = '20s'
const redis = await startedRedis()
const METRICS_PORT = String(await freePort())
const service = await serviceWith({ METRICS_PORT, LOG_LEVEL: 'debug' })

function serviceWith(env: NodeJS.ProcessEnv): Promise<OwnService> {
  return ownService({ WORKERS: '2', STORE_URL: redis.url, STORE_TIMEOUT, ...env })
}

function linesOf({ log }: OwnService, message: string, worker?: number): Record<string, unknown>[] {
  return log.filter((line) => line.msg === message && [undefined, line.worker].includes(worker))
}

interface Client {
  /** The worker that it is connected to. */
  readonly worker: number
  readonly call: Call
}

/** The worker that has logged that it answered; the log level has to be `debug`. */
function workerBehind(answer: Answer): Promise<number> {
  const id = answer.headers['x-session-id']
  return until(`a log line of ${id}`, () => {
    const line = service.log.find(({ session_id }) => session_id === id)
    return line && Number(line.worker)
  })
}

function timeOf(line: Record<string, unknown> | undefined): number {
  return Date.parse(String(line?.time))
}

/** Kills a worker, and waits until there is another. @returns the line of the log about its end. */
async function replaceWorker(number: number): Promise<Record<string, unknown> | undefined> {
  const times = linesOf(service, 'worker listening', number).length
  const pid = await until(`worker ${number}`, () => workersOf(service).get(number))
  process.kill(pid, 'SIGKILL')
  await until(`another worker ${number}`, () => {
    return linesOf(service, 'worker listening', number).length > times
  })
  return linesOf(service, 'worker ended with SIGKILL', number).at(-1)
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
    const call = connectTo(service)
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

/** The values of a metric by worker; of no worker, where it has no such label. */
function valuesOf(metrics: string, name: string, labels = ''): Map<number | undefined, number> {
  const values = metrics.split('\n').flatMap((line) => {
    const [, found, value] = /^([^#\s]\S*) (\S+)$/.exec(line) ?? []
    const worker = /\bworker="(\d)"/.exec(found ?? '')?.[1]
    const series = found?.replace(/,?worker="\d"/, '').replace('{}', '')
    if (series !== name + labels) return []
    return [[worker === undefined ? undefined : Number(worker), Number(value)] as const]
  })
  return new Map(values)
}

function sumOf(values: Map<unknown, number>): number {
  return [...values.values()].reduce((sum, value) => sum + value, 0)
}

const requests = 'item_store_requests_total'
const created = '{route="/api/v1/items",method="POST",status="201"}'
const read = '{route="/api/v1/items/{item_id}",method="GET",status="200"}'

describeWithRedis('two workers', () => {
  test('each sees at once what the other has created, over 200 operations in turn', async () => {
    const clients = await clientOfEach()
    const sessions: [creating: Answer, reading: Answer][] = []
    for (let n = 0; n < 100; n += 1) {
      const [writer, reader] = n % 2 === 0 ? clients : clients.toReversed()
      assert.ok(writer && reader)
      const creating = await writer.call('POST', '/items', `{"data":{"n":${n}}}`)
      const reading = await reader.call('GET', `/items/${itemOf(creating, 201).id}`)
      assert.equal(reading.status, 200)
      sessions.push([creating, reading])
    }
    for (const [n, answers] of sessions.entries()) {
      const workers = await Promise.all(answers.map((answer) => workerBehind(answer)))
      assert.deepEqual(workers, n % 2 === 0 ? [1, 2] : [2, 1])
    }
  })

  test('the metrics are those of each, and of one store', async () => {
    const metrics = await scrape()
    const both = new Map([1, 2].map((worker) => [worker, 50]))
    assert.deepEqual(valuesOf(metrics, requests, created), both)
    assert.deepEqual(valuesOf(metrics, requests, read), both)
    const accepted = '{outcome="accepted"}'
    assert.equal(sumOf(valuesOf(metrics, 'item_store_tokens_total', accepted)), 200)
    const count = 'item_store_request_duration_seconds_count'
    assert.deepEqual(valuesOf(metrics, count, '{route="/api/v1/items",method="POST"}'), both)
    assert.deepEqual(valuesOf(metrics, 'item_store_items'), new Map([[undefined, 100]]))
    for (const name of ['process_resident_memory_bytes', 'nodejs_eventloop_lag_p99_seconds']) {
      const values = valuesOf(metrics, name)
      assert.deepEqual([...values.keys()].sort(), [1, 2])
      assert.ok([...values.values()].every((value) => value > 0))
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

  test('one is killed under load: the other serves on, and it is replaced', async () => {
    const clients = busyClients(service, 12)
    await clients.untilBusy()
    const before = valuesOf(await scrape(), requests, created)
    assert.equal((await replaceWorker(1))?.level, 'error')
    await clients.untilBusy()
    clients.stop()
    const outcomes = await clients.ended()
    for (const { broken } of outcomes) {
      // Its own connection, and perhaps the next one, which was handed to the worker that was gone.
      assert.ok(broken.length <= 2, broken.join())
      for (const reason of broken) assert.match(reason, /^(ECONNRESET|EPIPE|no answer on a new)/)
    }
    const unanswered = outcomes.flatMap(({ broken }) => broken.filter((text) => /^no/.test(text)))
    assert.ok(unanswered.length <= 1, unanswered.join())
    // A counter that starts again, and one that goes on: Prometheus knows how to read both.
    const after = valuesOf(await scrape(), requests, created)
    assert.ok((after.get(1) ?? 0) < (before.get(1) ?? 0))
    assert.ok((after.get(2) ?? 0) > (before.get(2) ?? 0))
  })

  test('one that ends again and again is replaced ever more slowly', async () => {
    const first = await replaceWorker(2)
    const second = await replaceWorker(2)
    const wait = Number(second?.wait)
    assert.equal(wait, Math.max(1_000, 2 * Number(first?.wait)))
    const replaced = linesOf(service, 'worker listening', 2).at(-1)
    assert.ok(timeOf(replaced) - timeOf(second) >= wait - 50)
  })

  test('SIGTERM under load: no request is cut short, each item is there, exit code 0', async () => {
    const clients = busyClients(service, 20)
    await clients.untilBusy()
    const pids = await pidsOfBoth(service)
    assert.ok(service.child.pid)
    process.kill(-service.child.pid, 'SIGTERM') // to all of them, as service managers do
    const exit = await service.ended() // first, as the clients go on for as long as it does
    for (const { ids, broken } of await clients.ended()) {
      // One that was accepted, and that no worker had taken yet (docs/reference/workers.md).
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
    // Workers take connections in turn. They close idle ones once they have noticed the end of the primary process.
    const idle = openSockets(service.baseUrl, 4, headOf(service, 'GET', '/health'))
    for (const one of idle) assert.match(await firstText(one), /^HTTP\/1\.1 200 OK\r\n/)
    service.child.kill('SIGKILL')
    await until('both workers are stopping', () => idle.every(({ closed }) => closed))
    socket.write('{"data":{}}')
    const answer =
      /^HTTP\/1\.1 201 Created\r\n.*\r\nConnection: close\r\n.*"data":\{"id":"[^}]*\}\}$/s
    assert.match(await wholeText(socket), answer)
    await until('all have ended', () => !pids.some(isRunning))
  })

  test('more than MAX_CONNECTIONS of each: those in excess are closed, the others served', async () => {
    const service = await serviceWith({ MAX_CONNECTIONS: '3' })
    const sockets = openSockets(service.baseUrl, 10)
    const open = () => sockets.filter(({ closed }) => !closed)
    await until('no more than three of each are open', () => open().length <= 6)
    // The last one in excess may be closed only now, where one worker was handed more of them.
    const texts = await Promise.all(
      open().map(async (socket) => {
        socket.write(headOf(service, 'GET', '/health'))
        return await Promise.race([firstText(socket), once(socket, 'close').then(() => '')])
      }),
    )
    const served = texts.filter((text) => text !== '')
    assert.ok(served.length >= 3, `${served.length} are served`)
    for (const text of served) assert.match(text, /^HTTP\/1\.1 200 OK\r\n/)
  })

  test('one is stuck: the other serves on, and the metrics fail until it goes on', async () => {
    const METRICS_PORT = String(await freePort())
    const service = await serviceWith({ METRICS_PORT })
    const stuck = workersOf(service).get(1)
    assert.ok(stuck)
    process.kill(stuck, 'SIGSTOP')
    const scraped = fetch(`http://127.0.0.1:${METRICS_PORT}/metrics`)
    const answers: string[] = []
    for (const socket of openSockets(service.baseUrl, 6)) {
      socket.write(headOf(service, 'GET', '/health'))
      socket.on('data', (bytes) => answers.push(String(bytes)))
    }
    // Only the connection that was handed to it waits.
    await until('all others are answered', () => answers.length >= 5)
    assert.equal((await scraped).status, 500)
    process.kill(stuck, 'SIGCONT')
    await until('all are answered', () => answers.length === 6)
    for (const answer of answers) assert.match(answer, /^HTTP\/1\.1 200 OK\r\n/)
    assert.equal(valuesOf(await scrape(METRICS_PORT), 'process_open_fds').size, 2)
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
      const when = isReady ? 'while a worker waits for the engine' : 'before it runs any code'
      test(`a signal to ${toAll ? 'all processes' : 'the first process'} ${when}: exit code 0`, async (t) => {
        await redis.kill('SIGSTOP')
        t.after(() => redis.kill('SIGCONT'))
        const own = starting()
        await until('a worker', () => {
          const [pid] = workersOf(own).values()
          return pid !== undefined && (!isReady || catches(pid, constants.signals.SIGHUP))
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

  test('a port that is in use: the same line as of one process, once, exit code 2', async () => {
    const inUse = String(await portInUse())
    const free = String(await freePort())
    for (const args of [
      ['--port', inUse],
      ['--port', free, '--metrics-port', inUse],
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
    says: /^item-store: WORKERS \(2 in the environment\) needs STORE_URL: in process memory, each worker would have its own items\n$/,
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
