import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nearest } from './nearest.js'

const known = ['port', 'host', 'metrics-port', 'store-url', 'STORE_TIMEOUT']

for (const [name, meant] of [
  ['prot', 'port'],
  ['pot', 'port'],
  ['ports', 'port'],
  ['metric-port', 'metrics-port'],
  ['storeurl', 'store-url'],
  ['STORE_TIMOUT', 'STORE_TIMEOUT'],
  ['STORETIMEOUT', 'STORE_TIMEOUT'],
  ['p', undefined],
  ['speed', undefined],
  ['store', undefined],
  ['', undefined],
] as const) {
  test(`"${name}": ${meant}`, () => {
    assert.equal(nearest(name, known), meant)
  })
}
