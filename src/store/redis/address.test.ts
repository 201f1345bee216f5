import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clusterAddress, sentinelAddress } from './address.js'

const clusters = {
  'redis+cluster://a': ['redis://a'],
  'rediss+cluster://u:p%40@a:1,b': ['rediss://u:p%40@a:1', 'rediss://u:p%40@b'],
  'redis+cluster://a:1,b:2': ['redis://a:1', 'redis://b:2'],
  'rediss+cluster://:p@[::1]:1,10.0.0.1': ['rediss://:p@[::1]:1', 'rediss://:p@10.0.0.1'],
}

for (const [url, servers] of Object.entries(clusters)) {
  test(`${url} is the URL of a cluster`, () => {
    const address = clusterAddress(url)
    assert.deepEqual(address?.hosts.map(address.urlOf), servers)
  })
}

const sentinels = {
  'redis+sentinel://a,b:1/main': [
    ['redis://a:26379', 'redis://a:26379', 'redis://s:6379'],
    ['redis://b:1', 'redis://b:1', 'redis://s:6379'],
  ],
  'rediss+sentinel://u:p%40@[::1]/my.main-2/3': [
    ['rediss://[::1]:26379', 'rediss://u:p%40@[::1]:26379', 'rediss://u:p%40@s:6379/3'],
  ],
}

for (const [url, urls] of Object.entries(sentinels)) {
  test(`${url} is the URL of sentinels`, () => {
    const address = sentinelAddress(url)
    const found = address?.hosts.map((host) => [
      ...[false, true].map((hasCredentials) => address.sentinelUrl(host, hasCredentials)),
      address.serverUrl('s:6379'),
    ])
    assert.deepEqual(found, urls)
    assert.equal(clusterAddress(url), undefined)
  })
}

const others = [
  ...['redis://a', 'redis://a/1', 'redis://a,b', 'http://a,b', '', 'redis+unix:///a,b'],
  ...['redis+cluster://a/1', 'redis+cluster://a,', 'redis+cluster://a:x', 'redis+cluster://u@a'],
  ...['redis+cluster://u:@a,b', 'redis+cluster://a:1,b:0', 'redis+sentinel://a/'],
  ...['redis+sentinel:///main', 'redis+sentinel://a,/main', 'redis+sentinel://a:0/main'],
  ...['redis+sentinel://u@a/main', 'redis+sentinel://a/main/x', 'redis+sentinel://a/ma%20in'],
]
for (const url of others) {
  test(`"${url}" is neither the URL of a cluster nor of sentinels`, () => {
    assert.equal(clusterAddress(url) ?? sentinelAddress(url), undefined)
  })
}
