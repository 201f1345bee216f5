/** `item-store health`, as a container runs it. */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { cli, ownService } from './support/own-service.js'
import { freePort } from './support/process.js'
import { cleanEnvironment } from './support/tarball.js'

const folder = mkdtempSync(join(tmpdir(), 'item-store-health-'))

/** Not `spawnSync`: the service that is asked may live in this process. */
async function health(args: string[], variables: Record<string, string> = {}) {
  const env = { ...cleanEnvironment(), ...variables }
  const child = spawn(process.execPath, [cli, 'health', ...args], {
    cwd: folder,
    env,
    timeout: 20_000,
  })
  const closed = once(child, 'close')
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  await closed
  return { code: child.exitCode, stdout, stderr }
}

/** Serves with a listener in this process, while a function runs. */
async function serving<T>(listener: RequestListener, act: (url: string) => Promise<T>): Promise<T> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  assert.ok(address !== null && typeof address === 'object')
  try {
    return await act(`http://127.0.0.1:${address.port}`)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

test('a healthy service, by HOST and PORT or by URL: exit code 0', async () => {
  const { baseUrl } = await ownService()
  const { port } = baseUrl
  const healthy = { code: 0, stdout: 'healthy\n', stderr: '' }
  assert.deepEqual(await health([], { PORT: port }), healthy)
  assert.deepEqual(await health([], { PORT: port, HOST: '127.0.0.1' }), healthy)
  assert.deepEqual(await health(['--port', port], { PORT: '1' }), healthy)
  assert.deepEqual(await health(['--url', String(baseUrl)], { PORT: '1' }), healthy)
  assert.deepEqual(await health(['--url', `HTTP://127.0.0.1:${port}/api/v1`]), healthy)
  assert.deepEqual(await health([`--url=${baseUrl}/`], { PORT: 'x' }), healthy)
})

test('it loads no package, and nothing of the server', async () => {
  const { baseUrl } = await ownService()
  const coverage = join(folder, 'coverage')
  const variables = { NODE_V8_COVERAGE: coverage }
  assert.equal((await health(['--url', String(baseUrl)], variables)).code, 0)
  const [file = ''] = readdirSync(coverage)
  const { result }: { result: { url: string }[] } = JSON.parse(
    readFileSync(join(coverage, file), 'utf8'),
  )
  const loaded = result.map(({ url }) => url).filter((url) => url.startsWith('file:'))
  assert.ok(loaded.some((url) => url.endsWith('/dist/cli.js')))
  for (const url of loaded) assert.doesNotMatch(url, /node_modules|\/server\.js$/)
})

test('an unhealthy service: exit code 1 and the status', async () => {
  const body = '{"session_id":"x","status":"unhealthy"}'
  const result = await serving(
    (_, response) => response.writeHead(503).end(body),
    (url) => health(['--url', `${url}/api/v1`]),
  )
  assert.match(result.stderr, /^item-store: http:\S+\/api\/v1\/health answered 503, unhealthy\n$/)
  assert.deepEqual([result.code, result.stdout], [1, ''])
})

test('something else that answers: exit code 1', async () => {
  for (const body of ['ok', '{}', 'null', '{"status":"ok"}', '']) {
    const { code, stderr } = await serving(
      (_, response) => response.end(body),
      (url) => health(['--url', url]),
    )
    assert.match(stderr, /^item-store: http:\S+\/health answered 200.*\n$/)
    assert.equal(code, 1)
  }
})

test('nobody listens: exit code 1 and why', async () => {
  const port = await freePort()
  const { code, stderr } = await health([], { PORT: String(port) })
  assert.equal(
    stderr,
    `item-store: http://127.0.0.1:${port}/api/v1/health cannot be reached: ECONNREFUSED\n`,
  )
  assert.equal(code, 1)
})

test('no answer in time: exit code 1 and why', async () => {
  const { code, stderr } = await serving(
    () => undefined,
    (url) => health(['--url', url]),
  )
  assert.match(stderr, /cannot be reached: no answer within 5000 ms\n$/)
  assert.equal(code, 1)
})

const mistakes = [
  { args: ['--url', 'localhost'], says: /^item-store: --url is "localhost"; expected a base URL/ },
  { args: ['--url', 'ftp://a'], says: /^item-store: --url is "ftp:\/\/a"; expected a base URL/ },
  { args: ['--url', 'http://'], says: /^item-store: --url is "http:\/\/"; expected a base URL/ },
  {
    args: ['--url', 'http:39777'],
    says: /^item-store: --url is "http:39777"; expected a base URL/,
  },
  { args: ['--url', 'http:///a'], says: /^item-store: --url is "http:\/\/\/a"; expected a base/ },
  { args: ['--url', 'http://a/?x=1'], says: /^item-store: --url is "\S+x=1"; expected a base URL/ },
  { args: ['--url', 'http://a/#x'], says: /^item-store: --url is "\S+#x"; expected a base URL/ },
  { args: ['--url', 'http://a/ '], says: /^item-store: --url is "\S+ "; expected a base URL/ },
  {
    args: ['--host', '::1%lo'],
    says: /^item-store: HOST is "::1%lo", which cannot be part of a URL; name the service with/,
  },
  { args: ['--port', '0'], says: /^item-store: PORT is 0, any free port; name the service with/ },
  { args: ['--port', 'x'], says: /^item-store: --port is "x"; expected a whole number/ },
  {
    args: ['--speed'],
    says: /^item-store: Unknown option '--speed'; see item-store health --help/,
  },
]
for (const { args, says } of mistakes) {
  test(`health ${args.join(' ')}: exit code 1, as 2 is reserved there, and one line`, async () => {
    const { code, stdout, stderr } = await health(args)
    assert.match(stderr, says)
    assert.equal(stderr.split('\n').length, 2)
    assert.deepEqual([code, stdout], [1, ''])
  })
}
