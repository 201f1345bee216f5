/** The `item-store` command, run as a user runs it. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { ownProcess } from './support/own-process.js'

const root = join(dirname(fileURLToPath(import.meta.url)), '../..')
const command = join(root, 'dist/src/cli.js')
const secret = 'a secret of at least thirty-two bytes'
const emptyFolder = mkdtempSync(join(tmpdir(), 'item-store-'))

function environment(variables: Record<string, string>): NodeJS.ProcessEnv {
  const { JWT_SECRET: _secret, JWT_ALGORITHM: _algorithm, ...inherited } = process.env
  return { ...inherited, ...variables }
}

function run(args: string[], variables: Record<string, string> = {}, cwd = emptyFolder) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [command, ...args], {
    cwd,
    env: environment(variables),
    encoding: 'utf8',
    timeout: 10_000,
  })
  return { status, stdout, stderr }
}

/** Starts a command that serves, and gives what it prints until `pattern` is in it. */
async function start(args: string[], variables: Record<string, string>, pattern: RegExp) {
  const options = { cwd: emptyFolder, env: environment(variables) }
  const own = ownProcess([process.execPath, command, ...args], options)
  return { ...own, printed: await own.printed(pattern) }
}

const usage = [
  { args: [], says: /^item-store: expected a command: serve, dev, token or openapi/ },
  { args: ['fly'], says: /^item-store: "fly" is no command/ },
  { args: ['serve', '--speed', '9'], says: /^item-store: Unknown option '--speed'; see/ },
  {
    args: ['serve'],
    says: /^item-store: JWT_SECRET is not set; make one with: export JWT_SECRET=/,
  },
  { args: ['dev', '--port', 'x'], says: /^item-store: --port is "x"; expected a whole number/ },
  {
    args: ['dev', '--host', '203.0.113.1'],
    says: /^item-store: 203.0.113.1 is no address of this/,
  },
  { args: ['dev', '--host', 'fe80::1'], says: /^item-store: fe80::1 is no address of this/ },
  { args: ['dev', '--host', 'x'.repeat(300)], says: /^item-store: x{300} is no address of this/ },
  { args: ['dev', '--host', ''], says: /^item-store: --host is ""; expected some text/ },
  { args: ['openapi', '--speed'], says: /^item-store: Unknown option '--speed'; see/ },
  { args: ['token'], says: /^item-store: --sub is missing/ },
  { args: ['token', '--sub', 'a'], says: /^item-store: JWT_SECRET is not set/ },
]

for (const { args, says } of usage) {
  test(`item-store ${args.join(' ')}: exit code 2 and one clear line`, () => {
    const { status, stdout, stderr } = run(args)
    assert.match(stderr, says)
    assert.equal(stderr.trimEnd().split('\n').length, 1)
    assert.equal(stdout, '')
    assert.equal(status, 2)
  })
}

test('a .env that is no file: exit code 2 and one clear line', () => {
  const folder = mkdtempSync(join(tmpdir(), 'item-store-'))
  mkdirSync(join(folder, '.env'))
  const { status, stderr } = run(['--version'], {}, folder)
  assert.match(stderr, /^item-store: \.env in the working folder cannot be read\n$/)
  assert.equal(status, 2)
})

test('several faults of settings are one line each', () => {
  const { status, stderr } = run(['serve'], { PORT: '-1', LOG_LEVEL: 'x', JWT_SECRET: secret })
  assert.equal(stderr.match(/^item-store: (PORT|LOG_LEVEL) is/gm)?.length, 2)
  assert.equal(status, 2)
})

test('an algorithm that is not usable is refused at the start', () => {
  const { status, stderr } = run(['serve'], { JWT_SECRET: secret, JWT_ALGORITHM: 'RS256' })
  assert.match(stderr, /^item-store: JWT_ALGORITHM is not one of HS256, HS384, HS512\n$/)
  assert.equal(status, 2)
})

test('a port in use is told, with what to do', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => other.once('listening', resolve))
  const address = other.address()
  assert.ok(address !== null && typeof address === 'object')
  const { status, stderr } = run(['dev', '--host', '127.0.0.1', '--port', String(address.port)])
  other.close()
  assert.match(stderr, /^item-store: port \d+ is in use; .* choose another with --port\n$/)
  assert.equal(status, 2)
})

test('--version and --help', () => {
  const manifest: { version: string } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  assert.equal(run(['--version']).stdout, `${manifest.version}\n`)
  for (const args of [['--help'], ['serve', '--help'], ['token', '--help']]) {
    const { status, stdout } = run(args)
    assert.match(stdout, /--max-body-bytes +MAX_BODY_BYTES +Longest request body/)
    assert.equal(status, 0)
  }
})

test('openapi prints a document with every endpoint and model', () => {
  const document: {
    openapi: string
    paths: Record<string, object>
    components: { schemas: Record<string, object> }
  } = JSON.parse(run(['openapi']).stdout)
  assert.equal(document.openapi, '3.1.0')
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods)
      .filter((method) => method !== 'parameters')
      .map((method) => `${method} ${path}`),
  )
  assert.deepEqual(operations, [
    'get /health',
    'get /items',
    'post /items',
    'get /items/{item_id}',
    'put /items/{item_id}',
    'delete /items/{item_id}',
  ])
  const schemas = Object.keys(document.components.schemas)
  for (const [, model] of JSON.stringify(document).matchAll(/#\/components\/schemas\/(\w+)/g)) {
    assert.ok(model !== undefined && schemas.includes(model), model)
  }
  for (const model of ['TokenPayload', 'FileUploadRequest', 'FileUploadResponse']) {
    assert.ok(schemas.includes(model), model)
  }
})

for (const [expires, seconds] of [
  ['90s', 90],
  ['15m', 900],
  ['1h', 3600],
  ['7d', 604_800],
] as const) {
  test(`token --expires ${expires}`, () => {
    const { status, stdout } = run(['token', '--sub', 'alice', '--expires', expires], {
      JWT_SECRET: secret,
    })
    const payload = JSON.parse(Buffer.from(stdout.split('.')[1] ?? '', 'base64url').toString())
    assert.equal(payload.sub, 'alice')
    assert.equal(payload.exp - payload.iat, seconds)
    assert.equal(status, 0)
  })
}

for (const expires of ['', '1', 'h', '0h', '-1h', '1.5h', '1y', '99999999999999999d']) {
  test(`token --expires "${expires}" is refused`, () => {
    const args = ['token', '--sub', 'a', `--expires=${expires}`]
    const { status, stderr } = run(args, { JWT_SECRET: secret })
    assert.match(stderr, /^item-store: --expires is ".*"; expected a time such as/)
    assert.equal(status, 2)
  })
}

test('dev prints a token that works with the service it started', async () => {
  const args = ['dev', '--host', '127.0.0.1', '--port', '0']
  const { child, ended, printed } = await start(args, {}, /curl .*\/items -H .*\n$/)
  const token = /^TOKEN=(.*)$/m.exec(printed)?.[1]
  const base = /^BASE=(.*)$/m.exec(printed)?.[1]
  const response = await fetch(`${base}/items`, {
    headers: { Authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(10_000),
  })
  assert.equal(response.status, 200)
  child.kill('SIGTERM')
  assert.deepEqual(await ended(), [0, null])
})

test('a .env file is read, and the real environment wins over it', () => {
  const folder = mkdtempSync(join(tmpdir(), 'item-store-'))
  writeFileSync(join(folder, '.env'), `JWT_SECRET=${secret}\nPORT=x\n`)
  assert.match(run(['serve'], {}, folder).stderr, /^item-store: PORT is "x"/)
  assert.match(run(['serve'], { PORT: 'y' }, folder).stderr, /^item-store: PORT is "y"/)
  const fromFile = run(['token', '--sub', 'a'], {}, folder)
  assert.equal(fromFile.status, 0)
})

test('a short secret is warned of, without showing it', async () => {
  const args = ['serve', '--host', '127.0.0.1', '--port', '0']
  const { child, ended, printed } = await start(
    args,
    { JWT_SECRET: 'hush' },
    /JWT_SECRET has 4 bytes/,
  )
  assert.doesNotMatch(printed, /hush/)
  child.kill('SIGINT')
  assert.deepEqual(await ended(), [0, null])
})
