import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatSize, parseDuration, parseSize } from './kinds.js'

const sizes: Record<string, number> = {
  ...{ '0': 0, '16777216': 16_777_216, '5B': 5, '64k': 64_000, '64KB': 64_000, '16mb': 16_000_000 },
  ...{ '2G': 2_000_000_000, '1TB': 1e12, '64KiB': 65_536, '512mib': 536_870_912 },
  ...{ '1GiB': 1_073_741_824, '1TiB': 1_099_511_627_776 },
}

const noSizes = [
  '9007199254740992',
  '9007199254741TB',
  '',
  'MB',
  '-1',
  '1.5GiB',
  '1 MB',
  '1XB',
].map((text) => [text, undefined] as const)
for (const [text, bytes] of [...Object.entries(sizes), ...noSizes]) {
  test(`size "${text}" is parsed as ${bytes}`, () => assert.equal(parseSize(text), bytes))
}

const durations: [text: string, plainUnit: 'ms' | 's' | undefined, milliseconds?: number][] = [
  ['500ms', 's', 500],
  ['90s', undefined, 90_000],
  ['15m', 'ms', 900_000],
  ['1h', undefined, 3_600_000],
  ['7d', undefined, 604_800_000],
  ['60', 's', 60_000],
  ['60', 'ms', 60],
  ['60', undefined],
]
const noDurations = ['', 's', '1.5h', '-1s', '1 s', '1M', '1y', '99999999999999999d'].map(
  (text) => [text, 's', undefined] as const,
)

for (const [text, plainUnit, milliseconds] of [...durations, ...noDurations]) {
  test(`time "${text}" is parsed as ${milliseconds} ms, with plain numbers in ${plainUnit}`, () => {
    assert.equal(parseDuration(text, plainUnit), milliseconds)
  })
}

test('a size is formatted in the largest unit that gives a whole number', () => {
  const shown = [0, 1, 1000, 1024, 60_000_000, 16_777_216, 1_073_741_825, 3 * 1024 ** 3].map(
    formatSize,
  )
  assert.deepEqual(shown, ['0', '1', '1kB', '1KiB', '60MB', '16MiB', '1073741825', '3GiB'])
})
