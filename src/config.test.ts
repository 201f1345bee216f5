import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConfigError, describeSettings, flags, readConfig, settings } from './config.js'

test('without flags and environment every setting has its default', () => {
  const config = readConfig({}, {})
  assert.equal(config.port, 8000)
  assert.equal(config.host, '0.0.0.0')
  assert.equal(config.serviceName, 'item-store')
  assert.equal(config.logLevel, 'info')
  assert.equal(config.maxBodyBytes, 16_777_216)
  assert.ok(config.maxStoreBytes > 0)
})

test('a flag wins over the environment, and an empty variable counts as unset', () => {
  const env = { PORT: '1', HOST: '', MAX_BODY_BYTES: '10' }
  const config = readConfig({ port: '2' }, env)
  assert.equal(config.port, 2)
  assert.equal(config.host, '0.0.0.0')
  assert.equal(config.maxBodyBytes, 10)
})

test('every fault is named in a line of its own, with what is expected', () => {
  const env = { PORT: '80x', LOG_LEVEL: 'loud', MAX_STORE_BYTES: '-1' }
  assert.throws(
    () => readConfig({ 'max-body-bytes': '' }, env),
    (error) => {
      assert.ok(error instanceof ConfigError)
      assert.deepEqual(error.message.split('\n'), [
        'PORT is "80x"; expected a whole number from 0 to 65535',
        'LOG_LEVEL is "loud"; expected one of trace, debug, info, warn, error, fatal, silent',
        '--max-body-bytes is ""; expected a whole number from 1 to 134217728',
        `MAX_STORE_BYTES is "-1"; expected a whole number from 1 to ${Number.MAX_SAFE_INTEGER}`,
      ])
      return true
    },
  )
})

test('a store that may grow until every request is refused is a fault', () => {
  const env = { MAX_STORE_BYTES: '2000', MAX_MEMORY_BYTES: '2000' }
  assert.throws(() => readConfig({}, env), {
    message: 'MAX_STORE_BYTES is 2000; expected less than MAX_MEMORY_BYTES, which is 2000',
  })
})

test('room for less than one body is a fault', () => {
  const env = { MAX_BODY_BYTES: '2000', MAX_PENDING_BYTES: '1999' }
  assert.throws(() => readConfig({}, env), {
    message: 'MAX_PENDING_BYTES is 1999; expected at least MAX_BODY_BYTES, which is 2000',
  })
})

test('one port for two servers is a fault', () => {
  assert.throws(() => readConfig({}, { PORT: '9000', METRICS_PORT: '9000' }), {
    message: 'METRICS_PORT is 9000; expected another than PORT',
  })
})

test('help and flags name every setting', () => {
  for (const { name } of Object.values(settings)) {
    const flag = name.toLowerCase().replaceAll('_', '-')
    assert.ok(flag in flags)
    assert.match(describeSettings(), new RegExp(`--${flag} +${name} `))
  }
})
