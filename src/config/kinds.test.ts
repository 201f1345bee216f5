import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatSize, parseDuration, parseSize } from './kinds.js'

test('sizes may have a decimal or binary unit in any letter case, and are exact', () => {
  const sizes = {
    ...{ '0': 0, '16777216': 16_777_216, '5B': 5, '64k': 64_000, '64KB': 64_000, '16mb': 16e6 },
    ...{ '2G': 2e9, '1TB': 1e12, '64KiB': 65_536, '512mib': 2 ** 29, '1GiB': 2 ** 30 },
    '1TiB': 2 ** 40,
  }
  for (const [text, bytes] of Object.entries(sizes)) assert.equal(parseSize(text), bytes, text)
  const wrong = ['9007199254740992', '9007199254741TB', '', 'MB', '-1', '1.5GiB', '1 MB', '1XB']
  for (const text of wrong) assert.equal(parseSize(text), undefined, text)
})

test('times may have a unit; a plain number is in the given unit', () => {
  const times = { '500ms': 500, '90s': 90e3, '15m': 900e3, '1h': 3600e3, '7d': 604_800e3, '60': 60 }
  for (const [text, ms] of Object.entries(times)) assert.equal(parseDuration(text, 'ms'), ms, text)
  assert.equal(parseDuration('60', 's'), 60_000)
  assert.equal(parseDuration('60'), undefined)
  for (const text of ['', 's', '1.5h', '-1s', '1 s', '1M', '1y', '99999999999999999d']) {
    assert.equal(parseDuration(text, 's'), undefined, text)
  }
})

test('a size is formatted in the largest unit that gives a whole number', () => {
  const shown = [0, 1, 1000, 1024, 60_000_000, 16_777_216, 2 ** 30 + 1, 3 * 2 ** 30].map(formatSize)
  assert.deepEqual(shown, ['0', '1', '1kB', '1KiB', '60MB', '16MiB', '1073741825', '3GiB'])
})
