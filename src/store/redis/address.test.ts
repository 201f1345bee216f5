import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addressIn } from './address.js'

type Expected = [kind: string, name: string, urls: string[], sentinels?: string[]]
const addresses: Record<string, Expected> = {
  'redis://a': ['server', '', ['redis://a']],
  'rediss://u:p%40@[::1]:1/3': ['server', '', ['rediss://u:p%40@[::1]:1/3']],
  'redis+cluster://a': ['cluster', '', ['redis://a']],
  'rediss+cluster://u:p%40@a:1,b': ['cluster', '', ['rediss://u:p%40@a:1', 'rediss://u:p%40@b']],
  'redis+sentinel://a,b:1/main': ['sentinel', 'main', ['redis://a:26379', 'redis://b:1']],
  'rediss+sentinel://u:p%40@[::1]/my.main-2/3': [
    'sentinel',
    'my.main-2',
    ['rediss://u:p%40@[::1]:26379/3'],
    ['rediss://[::1]:26379', 'rediss://u:p%40@[::1]:26379'],
  ],
}
for (const [url, [kind, name, urls, sentinels]] of Object.entries(addresses)) {
  test(`${url} is the address of a ${kind}`, () => {
    const address = addressIn(url) ?? assert.fail()
    assert.deepEqual([address.kind, address.name], [kind, name])
    assert.deepEqual(address.hosts.map(address.urlOf), urls)
    if (sentinels === undefined) return
    const [host = ''] = address.hosts
    assert.deepEqual([address.sentinelUrl(host, false), address.sentinelUrl(host, true)], sentinels)
  })
}

const others = [
  ...['redis://a,b', 'redis://a:0', 'redis://a/b', 'http://a,b', '', 'redis+unix:///a,b'],
  ...['redis+cluster://a/1', 'redis+cluster://a,', 'redis+cluster://a:x', 'redis+cluster://u@a'],
  ...['redis+cluster://u:@a,b', 'redis+cluster://a:1,b:0', 'redis+sentinel://a/'],
  ...['redis+sentinel:///main', 'redis+sentinel://a,/main', 'redis+sentinel://a:0/main'],
  ...['redis+sentinel://u@a/main', 'redis+sentinel://a/main/x', 'redis+sentinel://a/ma%20in'],
]
test('other texts are no addresses', () => {
  for (const url of others) assert.equal(addressIn(url), undefined, url)
})
