import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clusterAddress } from './address.js'

const clusters = {
  'redis+cluster://a': ['redis://a'],
  'rediss+cluster://u:p%40@a:1,b': ['rediss://u:p%40@a:1', 'rediss://u:p%40@b'],
  'redis://a:1,b:2': ['redis://a:1', 'redis://b:2'],
  'rediss://:p@[::1]:1,10.0.0.1': ['rediss://:p@[::1]:1', 'rediss://:p@10.0.0.1'],
}
for (const [url, servers] of Object.entries(clusters)) {
  test(`a cluster: ${url}`, () => {
    const address = clusterAddress(url)
    assert.deepEqual(address?.hosts.map(address.urlOf), servers)
  })
}

const others = [
  ...['redis://a', 'redis://a/1', 'redis://a,b/1', 'redis+cluster://a/1', 'redis+cluster://'],
  ...['redis+cluster://a,', 'redis+cluster://a:x', 'redis+unix:///a,b', 'http://a,b', ''],
  ...['redis+cluster://u@a', 'redis+cluster://u:@a,b', 'redis+cluster://a:1,b:0'],
]
for (const url of others) {
  test(`no cluster: ${url}`, () => assert.equal(clusterAddress(url), undefined))
}
