import assert from 'node:assert/strict'
import { totalmem } from 'node:os'
import { test } from 'node:test'
import { fractionOfMemory } from '../memory/shares.js'
import { readConfig, settingWarnings } from './read-config.js'
import { UsageError } from './usage-error.js'

test('a flag takes precedence over the environment, and an empty variable counts as unset', () => {
  const env = { PORT: '1', HOST: '', MAX_BODY_BYTES: '10' }
  const { port, host, maxBodyBytes } = readConfig({ port: '2' }, env)
  assert.deepEqual([port, host, maxBodyBytes], [2, '0.0.0.0', 10])
})

test('every problem is reported in a line of its own, with the source of the value and what is expected', () => {
  const env = {
    PORT: '80x',
    LOG_LEVEL: 'loud',
    DOCS: 'yes',
    MAX_STORE_BYTES: '-1',
    REQUEST_TIMEOUT: '1500ms',
    METRICS_PORT: 'abc',
    TRUSTED_PROXIES: '127.0.0.1,10.0.0.0/33',
  }
  const fromFile = new Set(['LOG_LEVEL'])
  assert.throws(
    () => readConfig({ 'max-body-bytes': '' }, env, fromFile),
    (error) => {
      assert.ok(error instanceof UsageError)
      assert.deepEqual(error.message.split('\n'), [
        'PORT is "80x" in the environment; expected a whole number from 0 to 65535',
        'LOG_LEVEL is "loud" in .env; expected one of trace, debug, info, warn, error, fatal, silent',
        'DOCS is "yes" in the environment; expected on or off',
        '--max-body-bytes is ""; expected a size from 1 to 128MiB, in bytes or with a unit such as kB, MB or MiB',
        'MAX_STORE_BYTES is "-1" in the environment; expected a size from 1 to 1024TiB, in bytes or with a unit such as kB, MB or MiB',
        'REQUEST_TIMEOUT is "1500ms" in the environment; expected a time from 1s to 86400s, with a unit such as ms, s or m',
        'TRUSTED_PROXIES is "127.0.0.1,10.0.0.0/33" in the environment; expected addresses or networks, such as 127.0.0.1,10.0.0.0/8',
        'METRICS_PORT is "abc" in the environment; expected a whole number from 1 to 65535, or off',
      ])
      return true
    },
  )
})

const typed = [
  { env: {}, key: 'storeTimeout', value: 2000 },
  { env: {}, key: 'requestTimeout', value: 60 },
  { env: {}, key: 'mcp', value: false },
  { env: { MAX_BODY_BYTES: '512kib' }, key: 'maxBodyBytes', value: 524_288 },
  { env: { STORE_TIMEOUT: '250' }, key: 'storeTimeout', value: 250 },
  { env: { REQUEST_TIMEOUT: '15m' }, key: 'requestTimeout', value: 900 },
  { env: { DOCS: 'off' }, key: 'docs', value: false },
  { env: { METRICS_PORT: 'off' }, key: 'metricsPort', value: undefined },
  { env: { STORE_URL: 'memory' }, key: 'storeUrl', value: undefined },
  { env: { METRICS_PORT: '9090' }, key: 'metricsPort', value: 9090 },
  { env: { HOST: '::1' }, key: 'metricsHost', value: '::1' },
  { env: { HOST: '::1', METRICS_HOST: '::' }, key: 'metricsHost', value: '::' },
] as const

for (const { env, key, value } of typed) {
  test(`${JSON.stringify(env)}: ${key} is ${value}`, () => {
    assert.equal(readConfig({}, env)[key], value)
  })
}

test('there is a warning for each port that fetch refuses', async () => {
  const dispatcher = {
    dispatch() {
      throw new Error('not refused')
    },
  }
  const init = { dispatcher } as unknown as RequestInit // the types require a complete dispatcher
  for (let port = 1; port < 11_000; port += 1) {
    const error = await fetch(`http://localhost:${port}`, init).catch((error) => error)
    const expected = error.cause.message === 'bad port' ? 1 : 0
    assert.equal(settingWarnings(port, {}).length, expected, String(port))
  }
})

test('MAX_STORE_BYTES is by default half of the memory, or of a lower MAX_MEMORY_BYTES', () => {
  const limits = ['400MiB', '1000TB', undefined].map(
    (MAX_MEMORY_BYTES) => readConfig({}, { MAX_MEMORY_BYTES }).maxStoreBytes,
  )
  const half = Math.floor(fractionOfMemory(1) / 2)
  assert.deepEqual(limits, [200 * 1024 ** 2, half, half])
})

const mistyped = {
  STORE_TIMEOUT: ['9', '60001', '61s'],
  PORT: ['0x50', '1e3', '+80', '80.0', ' 80', '80 ', '٨', '65536', '-1'],
  STORE_URL: [
    ...['redis://user:@host', 'redis://:@host', 'redis://host:0', 'redis://host:00/1', 'redis://'],
    ...['redis://user@host', 'redis://host/x', 'xredis://host', 'redis://host?a'],
    ...[
      'redis+unix://user:@/socket',
      'redis+unix:///',
      'redis+unix:///socket?db=x',
      'redis://a b',
      'redis://:%zz@a',
    ],
  ],
}

for (const [name, texts] of Object.entries(mistyped)) {
  test(`${name} is rejected if it is mistyped`, () => {
    for (const text of texts) {
      assert.throws(() => readConfig({}, { [name]: text }), new RegExp(`^UsageError: ${name} is `))
    }
  })
}

test('STORE_URL is kept as it is', () => {
  for (const url of ['redis://:a@host:1/2', 'rediss://a:b@host', 'redis+unix://a:b@/s?db=1']) {
    assert.equal(readConfig({}, { STORE_URL: url }).storeUrl, url)
  }
})

test('MAX_STORE_BYTES that is not less than MAX_MEMORY_BYTES is an error', () => {
  const read = () => readConfig({ 'max-memory-bytes': '2000' }, { MAX_STORE_BYTES: '2kB' })
  const message =
    'MAX_STORE_BYTES (2kB in the environment) must be less than --max-memory-bytes (2000)'
  assert.throws(read, { message })
})

test('STORE_BUCKETS above 4096 is an error in a cluster only', () => {
  const read = (STORE_URL: string) => readConfig({}, { STORE_URL, STORE_BUCKETS: '8192' })
  const message = 'STORE_BUCKETS (8192 in the environment) may be at most 4096 in a cluster'
  assert.throws(() => read('rediss+cluster://host'), { message })
  assert.equal(read('redis://host').storeBuckets, 8192)
})

test('limits for bodies and pipelined requests are shares of memory, and allow at least one body', () => {
  const limits = (MAX_MEMORY_BYTES: string, MAX_BODY_BYTES: string) =>
    readConfig({}, { MAX_MEMORY_BYTES, MAX_STORE_BYTES: '1MB', MAX_BODY_BYTES })
  const small = limits('200MB', '1MB')
  assert.deepEqual([small.maxPendingBytes, small.maxPipelinedBytes], [20e6, 10e6])
  const large = limits('1000TB', '1MB')
  assert.ok(large.maxPendingBytes <= totalmem() / 10)
  assert.ok(large.maxPipelinedBytes <= 32 * 1024 ** 2)
  assert.equal(limits('200MB', '50MB').maxPendingBytes, 50e6)
})

const sharedPorts = [
  { isTaken: true },
  { HOST: '0.0.0.0', METRICS_HOST: '127.0.0.1', isTaken: true },
  { HOST: '127.0.0.1', METRICS_HOST: '0.0.0.0', isTaken: true },
  { HOST: '::', METRICS_HOST: '127.0.0.1', isTaken: true },
  { HOST: '127.0.0.1', METRICS_HOST: '127.0.0.2', isTaken: false },
]
for (const { isTaken, ...hosts } of sharedPorts) {
  test(`${JSON.stringify(hosts)}: the same port for both is ${isTaken ? 'an error' : 'possible'}`, () => {
    const read = () => readConfig({}, { ...hosts, PORT: '9000', METRICS_PORT: '9000' })
    const message =
      'METRICS_PORT (9000 in the environment) must differ from PORT (9000 in the environment)'
    if (isTaken) assert.throws(read, { message })
    else assert.equal(read().metricsPort, 9000)
  })
}

const meant: Record<string, string> = {
  ...{ STORE_URI: 'STORE_URL', STORE_TIMOUT: 'STORE_TIMEOUT', ITEM_STORE_PORT: 'PORT' },
  ...{ ITEM_STORE_PREFIX: 'STORE_PREFIX', ITEM_STORE_LOG_LEVL: 'LOG_LEVEL' },
  ITEM_MAX_STORE_BYTES: 'MAX_STORE_BYTES',
}

for (const name of [...Object.keys(meant), 'STORE_URL', 'ITEM_STORE_TOKEN', 'PROT']) {
  const { [name]: setting } = meant
  test(`variable ${name}: ${setting ? `the warning suggests ${setting}` : 'no warning'}`, () => {
    const says = setting ? [`${name} is not a setting; did you mean ${setting}?`] : []
    assert.deepEqual(settingWarnings(8000, { [name]: 'a secret' }), says)
  })
}
