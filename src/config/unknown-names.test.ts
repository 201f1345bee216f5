import assert from 'node:assert/strict'
import { test } from 'node:test'
import { unknownNameWarnings } from './unknown-names.js'

for (const [name, meant] of [
  ['STORE_URI', 'STORE_URL'],
  ['STORE_TIMOUT', 'STORE_TIMEOUT'],
  ['STORE_BUCKET', 'STORE_BUCKETS'],
  ['STORE_URLS', 'STORE_URL'],
  ['ITEM_STORE_URL', 'STORE_URL'],
  ['ITEM_STORE_PORT', 'PORT'],
  ['ITEM_STORE_PREFIX', 'STORE_PREFIX'],
  ['ITEM_STORE_LOG_LEVL', 'LOG_LEVEL'],
  ['ITEM_MAX_STORE_BYTES', 'MAX_STORE_BYTES'],
  ['STORE_URL', undefined],
  ['ITEM_STORE_TOKEN', undefined],
  ['STORE_OWNER', undefined],
  ['PROT', undefined],
] as const) {
  test(`${name}: ${meant ?? 'nothing is said'}`, () => {
    const says = meant === undefined ? [] : [`${name} is not a setting; did you mean ${meant}?`]
    assert.deepEqual(unknownNameWarnings({ [name]: 'a secret' }), says)
  })
}
