/** Tests of the `item-store` command, run as a user would run it. */

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, mkdirSync, openSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { claimsOf } from './conformance/tokens.js'
import { assertServesWithoutSecret, withoutSecret } from './support/missing-secret.js'
import { cli, ownService, runCommand as run, startCommand as start } from './support/own-service.js'
import { portInUse } from './support/process.js'
import { cleanEnvironment, emptyFolder, manifest, unlessMissing } from './support/tools.js'

const secret = 'a secret of at least thirty-two bytes'
const nowhere = emptyFolder()

// Starts first, because this process reads the output of a starting service, and `spawnSync` blocks it.
const { baseUrl: served } = await ownService({ JWT_SECRET: secret })

function folderWith(env: string, encoding: BufferEncoding = 'utf8'): string {
  const folder = emptyFolder()
  writeFileSync(join(folder, '.env'), env, encoding)
  return folder
}

const baseUrl = 'http://127.0.0.1:9/api/v1' // nothing listens there

const notBaseUrls = [
  ...['localhost:8000/api/v1', 'http://localhost:8000', 'http://user:password@localhost/api/v1'],
]
const isNoBaseUrl = /".*" is not a base URL; expected one like http:\/\/localhost:8000\/api\/v1\n$/

const set = `JWT_SECRET=${'x'.repeat(32)}`
const busy = await portInUse()

/** Commands, after variables if any, and the error that each prints. */
const usage: Record<string, RegExp> = {
  '': /expected a command: serve, dev, token, openapi or conformance/,
  toString: /unknown command "toString"; expected serve, dev, token, openapi or conformance/,
  sevre: /unknown command "sevre"; did you mean serve\?\n$/,
  'help tokn': /unknown command "tokn"; did you mean token\?\n$/,
  'serve --speed 9': /Unknown option '--speed'; see/,
  'serve --prot 9000':
    /Unknown option '--prot'; did you mean --port\?; see item-store serve --help\n$/,
  'dev --store=x': /Unknown option '--store'; see item-store dev --help\n$/,
  'serve --seed a.json': /--seed is an option of dev, not of serve; see item-store dev --help\n$/,
  'serve --store-url localhost:6379':
    /--store-url is not usable; expected memory, or a URL with a scheme: redis:\/\/.*HOST.*/,
  'dev --host 203.0.113.1': /203.0.113.1 is not an address of this/,
  'dev --host fe80::1': /fe80::1 is not an address of this/,
  [`dev --host ${'x'.repeat(300)}`]: /x{300} is not an address of this/,
  'dev --host ': /--host is ""; expected text that is not empty/,
  'dev --metrics-port 9000 --metrics-host 203.0.113.1':
    /203.0.113.1 is not an address of this machine; .* --metrics-host\n$/,
  'dev --port -1': /Option '--port' .*; see item-store dev --help/,
  'dev --delay=x': /--delay is "x"; expected milliseconds such as 200 or 200-800, up to 60000\n$/,
  'dev --failures=x':
    /--failures is "x"; expected a list such as 503,cut or rates such as 503=0.1,cut=0.05, with 429, 500, 503, cut\n$/,
  'dev 9000': /Unexpected argument '9000'; see/,
  'dev --max-memory-bytes 60000000 --max-store-bytes 1MB':
    /MAX_MEMORY_BYTES is 60MB, but the idle process alone takes \d+MiB: item requests would be refused; allow at least \d+MiB\n$/,
  token: /--sub is missing/,
  conformance:
    /expected one address, such as item-store conformance http:\/\/localhost:8000\/api\/v1\n$/,
  ...Object.fromEntries(notBaseUrls.map((url) => [`conformance ${url}`, isNoBaseUrl])),
  [`conformance ${baseUrl} --reporter dot`]: /--reporter is "dot"; expected spec, tap or junit\n$/,
  [`conformance ${baseUrl} --report tap`]:
    /Unknown option '--report'; did you mean --reporter\?; see item-store conformance --help\n$/,
  [`conformance ${baseUrl}`]: /JWT_SECRET is not set; use the secret of the service/,
  [`${set} conformance ${baseUrl}`]: /nothing responds at http:\S+: .*(ECONNREFUSED|bad port).*\n$/,
  [`${set} JWT_ALGORITHM=HS512 conformance ${baseUrl}`]:
    /JWT_ALGORITHM is not HS256, which the tests sign/,
  [`${set} JWT_ALGORITHM=RS256 dev`]: /JWT_ALGORITHM is not one of HS256, HS384, HS512\n$/,
  ...Object.fromEntries(
    ['serve', 'dev', 'token --sub a'].map((command) => [
      `${set} JWT_SECRET_FILE=file ${command}`,
      /JWT_SECRET and JWT_SECRET_FILE are both set; unset one of them\n$/,
    ]),
  ),
  [`dev --host 127.0.0.1 --port ${busy}`]: /port \d+ is in use; .* another port with --port\n$/,
  [`dev --host 127.0.0.1 --port 0 --metrics-port ${busy}`]:
    /port \d+ is in use; .* another port with --metrics-port\n$/,
  'token --sub a --expires=': /--expires is ""; expected a time such as/,
  'token --sub a --expires=-': /--expires is "-"; expected a time such as/,
  'token --sub a': /JWT_SECRET is not set; .* secret of the service, .* dev .* \.env\n$/,
}

for (const [line, says] of Object.entries(usage)) {
  test(`item-store ${line} prints an error in one line and exits with code 2`, () => {
    const words = line === '' ? [] : line.split(' ')
    const variables = words.filter((word) => /^[A-Z_]+=/.test(word)).map((word) => word.split('='))
    const args = words.slice(variables.length)
    const { status, stdout, stderr } = run(args, Object.fromEntries(variables))
    assert.match(stderr, new RegExp(`^item-store: ${says.source}`))
    assert.equal(stderr.trimEnd().split('\n').length, 1)
    assert.equal(stdout, '')
    assert.equal(status, 2)
  })
}

test('each mistake in the settings is reported in its own line', () => {
  const { status, stderr } = run(['serve'], { PORT: '-1', LOG_LEVEL: 'x', JWT_SECRET: secret })
  assert.equal(stderr.match(/^item-store: (PORT|LOG_LEVEL) is/gm)?.length, 2)
  assert.equal(status, 2)
})

test('-v and --version print the version', () => {
  const expected = { status: 0, stdout: `${manifest.version}\n`, stderr: '' }
  for (const flag of ['-v', '--version']) assert.deepEqual(run([flag]), expected)
})

const setting =
  /--max-body-bytes +MAX_BODY_BYTES +Maximum size of a request body, up to 128MiB \[16MiB\]/
const helps: [args: string[], has: RegExp[], hasNot: RegExp[]][] = [
  [['--help'], [/item-store dev/, setting, /JWT_SECRET/], []],
  [
    ['dev', '--port', '-h'],
    [/dev \[--seed FILE\]/, setting, /\[127\.0\.0\.1\]/, /only\s+\[on\]/],
    [/--sub/, /\[0\.0\.0\.0\]/],
  ],
  [['help', 'serve'], [setting, /\[0\.0\.0\.0\]/, /only\s+\[off\]/], []],
  [['token', '--help'], [/--sub NAME/, /JWT_SECRET/], [/--max-body-bytes/]],
  [
    ['conformance', '--help'],
    [/conformance URL/, /--reporter NAME/, /JWT_SECRET/, /http:\/\/localhost:8000\/api\/v1\./],
    [/--max-body-bytes/],
  ],
  [['openapi', '--help'], [/OpenAPI/], [/--max-body-bytes/, /JWT_SECRET/]],
]

for (const [args, has, hasNot] of helps) {
  test(`item-store ${args.join(' ')} prints the help of this command only`, () => {
    const { status, stdout, stderr } = run(args)
    for (const text of has) assert.match(stdout, text)
    for (const text of hasNot) assert.doesNotMatch(stdout, text)
    for (const line of stdout.split('\n')) assert.ok(line.length <= 100, line)
    assert.deepEqual({ status, stderr }, { status: 0, stderr: '' })
  })
}

test('-h and help print the same as --help', () => {
  const help = run(['--help'])
  for (const same of ['-h', 'help']) assert.deepEqual(run([same]), help)
})

for (const [expires, lifetime] of [
  ['15m', 900],
  ['-1s', -1],
] as const) {
  test(`token --expires=${expires} prints a token with the given caller and lifetime`, () => {
    const args = ['token', '--sub', 'alice', `--expires=${expires}`]
    const { status, stdout } = run(args, { JWT_SECRET: secret })
    const { sub, iat, exp } = claimsOf(stdout)
    assert.deepEqual([sub, exp - iat, status], ['alice', lifetime, 0])
  })
}

test('the output of dev fits on a screen, and its commands work', async () => {
  const args = ['dev', '--host', '127.0.0.1', '--port', '0']
  const own = start(args, {})
  const printed = await own.printed(/\ncurl .* -H .*\n\n$/)
  const lines = printed.split('\n')
  const rows = lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / 80)), 0)
  assert.ok(rows <= 24, `${rows} rows`)
  for (const line of lines.filter((line) => !/^TOKEN=|#token=|^\d\d:\d\d:\d\d /.test(line))) {
    assert.ok(line.length <= 100, line)
  }
  const commands = printed.slice(printed.indexOf('TOKEN=')).replaceAll('curl ', 'curl -s ')
  const { stdout, status } = spawnSync('bash', ['-e'], { input: commands, encoding: 'utf8' })
  own.child.kill('SIGTERM')
  assert.equal(status, 0)
  const answers = stdout.trimEnd().split('\n')
  const statuses = answers.map((line) => JSON.parse(line).status)
  assert.deepEqual(statuses, ['created', 'success'])
  assert.deepEqual(await own.ended(), [0, null])
})

const token = ['token', '--sub', 'a']

test('a .env file is read, and variables of the environment take precedence, even empty ones', () => {
  const folder = folderWith(`JWT_SECRET=${secret}\nJWT_ALGORITHM=RS256\nPORT=x\nDOCS=z\n`)
  const errors = (args: string[], variables = {}) => run(args, variables, folder).stderr
  assert.match(errors(['serve']), /^item-store: PORT is "x" in \.env; expected/)
  assert.match(errors(['serve'], { PORT: 'y' }), /^item-store: PORT is "y" in the environment;/)
  for (const command of ['serve', 'dev']) {
    assert.match(errors([command], { PORT: '' }), /^item-store: DOCS is "z" in \.env.*\n$/)
  }
  for (const args of [token, ['conformance', baseUrl]]) {
    assert.match(errors(args), /^item-store: JWT_ALGORITHM is not one of/)
    assert.match(errors(args, { JWT_SECRET: '' }), /^item-store: JWT_SECRET is not set/)
  }
  assert.equal(errors(token, { JWT_ALGORITHM: '' }), '')
})

for (const [args, variables] of [
  [[], { STORE_URL: '' }],
  [['--store-url=memory'], { STORE_URL: 'redis://127.0.0.1:2' }],
] as const) {
  test(`${JSON.stringify([...args, variables])}: items are kept in memory in spite of a STORE_URL in .env`, async () => {
    const cwd = folderWith(`STORE_URL=redis://127.0.0.1:1\nJWT_SECRET=${secret}\n`)
    const own = start(['dev', '--host=127.0.0.1', '--port=0', ...args], variables, cwd)
    assert.match(await own.printed(/^ +items +.*\n/m), / items +lost when the service stops\n/)
  })
}

const [withFolder, withDanglingLink] = [emptyFolder(), emptyFolder()]
mkdirSync(join(withFolder, '.env'))
symlinkSync('nowhere', join(withDanglingLink, '.env'))
for (const [what, folder] of Object.entries({
  'a folder': withFolder,
  'a link to nothing': withDanglingLink,
  'of another program': folderWith('G="{\\"a\\":1}"\nU=https://x/#/\n\u00a0Lone\n# \xfc', 'latin1'),
})) {
  test(`a .env that is ${what} stops no command`, () => {
    assert.deepEqual(run(['openapi'], {}, folder).status, 0)
    assert.equal(run(token, { JWT_SECRET: secret }, folder).stderr, '')
    assert.match(run(['serve', '--port=x'], {}, folder).stderr, /^item-store: --port is .*\n$/)
  })
}

function folderWithPipe(): string {
  const folder = emptyFolder()
  assert.equal(spawnSync('mkfifo', [join(folder, '.env')]).status, 0)
  return folder
}

test(
  'a .env that is a pipe is read',
  unlessMissing(process.platform === 'win32' && 'mkfifo'),
  () => {
    const folder = folderWithPipe()
    const writer = spawn('sh', ['-c', `echo JWT_SECRET=${secret} > .env`], { cwd: folder })
    assert.deepEqual(run(token, {}, folder).stderr, '')
    writer.kill()
  },
)

const unreadable: [says: string, folder: string, ...commands: string[][]][] = [
  ['line 2 has no clear value for JWT_SECRET', folderWith(`# ours\nJWT_SECRET: ${secret}\n`)],
  ['line 2 contains a NUL character', folderWith(`# ours\nJWT_SECRET=${secret}\0${secret}\n`)],
]
if (process.platform !== 'win32') {
  const says = 'in the working directory cannot be read: no data within 5 s'
  unreadable.push([says, folderWithPipe(), token])
}
for (const [says, folder, ...commands] of unreadable) {
  test(`".env ${says}" is an error in one line without the text of the file, with exit code 2`, () => {
    for (const args of commands.length > 0 ? commands : [['serve'], ['dev'], token]) {
      const { status, stderr } = run(args, {}, folder)
      assert.match(stderr, new RegExp(`^item-store: \\.env ${says}.*\\n$`))
      assert.ok(!stderr.includes(secret))
      assert.equal(status, 2)
    }
  })
}

const serve = ['serve', '--host', '127.0.0.1', '--port', '0']

for (const { variables, says } of withoutSecret) {
  test(`§5.5 serve with ${JSON.stringify(variables)} starts, logs what to type, and is unhealthy`, async () => {
    await assertServesWithoutSecret(start(serve, variables), says)
  })
}

const warnings: Record<string, [variables: Record<string, string>, says: RegExp]> = {
  'a store that may outgrow the memory limit': [
    { MAX_MEMORY_BYTES: '400MiB', MAX_STORE_BYTES: '399MiB' },
    /MAX_MEMORY_BYTES is 400MiB, but the idle process alone takes \d+MiB and MAX_STORE_BYTES is 399MiB,/,
  ],
  'a variable that was meant to be a setting': [
    { STORE_URI: 'redis://:hush@localhost' },
    /STORE_URI is not a setting; did you mean STORE_URL\?"/,
  ],
  'a short secret': [{ JWT_SECRET: 'hush' }, /JWT_SECRET has only 4 of the recommended 32 bytes/],
  'a secret with white space at an end': [
    { JWT_SECRET: `${'hush'.repeat(8)}\n` },
    /JWT_SECRET begins or ends with white space, which is part of the secret"/,
  ],
  'a port that browsers refuse': [
    { PORT: '10080' },
    /browsers and fetch refuse to connect to port 10080; choose another port with --port"/,
  ],
}

for (const [what, [variables, says]] of Object.entries(warnings)) {
  test(`${what} causes a warning that contains no secret`, async () => {
    const pattern = new RegExp(`"level":"warn".*"${says.source}`)
    const args = variables.PORT === undefined ? serve : serve.slice(0, -2)
    const own = start(args, { JWT_SECRET: secret, ...variables })
    assert.doesNotMatch(await own.printed(pattern), /hush/)
  })
}

test('the first log line has the version, the URL, the place of the items and the limits', async () => {
  const args = [...serve, '--max-body-bytes', '1MiB']
  const address = 'redis://user:hush@127.0.0.1:1/2'
  for (const [more, expected] of [
    [['--max-store-bytes', '50MB'], { store: 'process memory', max_store_bytes: 50_000_000 }],
    [['--store-url', address], { store: 'redis://127.0.0.1:1/2' }],
  ] as const) {
    const own = start([...args, ...more], { JWT_SECRET: secret })
    const printed = await own.printed(/listening on .*\n/)
    const line = printed.split('\n').find((line) => line.includes('listening on')) ?? ''
    const { time, url, version, msg, max_connections, max_memory_bytes, ...others } =
      JSON.parse(line)
    assert.match(version, /^\d+\.\d+\.\d+$/)
    assert.match(url, /^http:\/\/127\.0\.0\.1:\d+$/)
    assert.equal(msg, `listening on ${url}`)
    assert.ok(max_connections > 0 && max_memory_bytes > 0)
    assert.deepEqual(others, { level: 'info', max_body_bytes: 1_048_576, ...expected })
    assert.doesNotMatch(printed, /hush|user/)
  }
})

const needsFull = { skip: !existsSync('/dev/full') && 'there is no /dev/full here' }

const env = { ...cleanEnvironment(), JWT_SECRET: secret }

for (const args of [['openapi'], ['conformance', served.href]]) {
  const shown = args.join(' ').replace(served.href, 'URL')

  test(
    `item-store ${shown} prints an error in one line and exits with code 1 if standard output is full`,
    needsFull,
    () => {
      const full = openSync('/dev/full', 'w')
      const stdio = ['ignore' as const, full, 'pipe' as const]
      const options = { cwd: nowhere, env, stdio }
      const { status, stderr } = spawnSync(process.execPath, [cli, ...args], options)
      closeSync(full)
      assert.match(String(stderr), /^item-store: cannot write to standard output: ENOSPC.*\n$/)
      assert.equal(status, 1)
    },
  )

  test(`item-store ${shown} prints no error if nobody reads its output`, async () => {
    const options = { cwd: nowhere, env, timeout: 300_000 }
    const child = spawn(process.execPath, [cli, ...args], options)
    child.stdout.destroy()
    let said = ''
    child.stderr.on('data', (chunk) => {
      said += chunk
    })
    await once(child, 'close')
    assert.equal(said, '')
  })
}
