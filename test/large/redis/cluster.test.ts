/** Tests the store on a Redis cluster. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertConforms } from '../../support/conformance.js'
import { freePort, until } from '../../support/process.js'
import { describeWithRedis, documentedRights, startedRedis } from '../../support/redis.js'
import { ownCluster } from '../../support/redis-cluster.js'
import { type OwnStoreOptions, ownStore } from '../../support/redis-store.js'
import {
  createItems,
  describeStore,
  idsIn,
  itemText,
  textOf,
} from '../../support/store-behaviour.js'
import { assertServes, assertUnhealthy, causeIn, patient, serviceOn } from './expect.js'

const cluster = await ownCluster()
await cluster.start()

describeWithRedis('a cluster', () => {
  const open = (options: Partial<OwnStoreOptions> = {}) =>
    ownStore({ url: cluster.url, ...options })

  function masters(...command: string[]): Promise<string[]> {
    return Promise.all(cluster.nodes.slice(0, 3).map((node) => node.command(...command)))
  }

  const small = { buckets: 8, batchBytes: 300 }
  describeStore('in a cluster, 8 buckets and batches of 300 bytes', () => open(small), 50)

  test('the service passes the conformance tests, and spreads items over all masters', async () => {
    await assertConforms({ STORE_URL: cluster.url, ...patient })
    for (const keys of await masters('keys', 'item-store:{[0-9]*')) assert.notEqual(keys, '')
  })

  test('the list has the items of all masters, and the size includes all of them', async () => {
    const store = await open()
    const ids = await createItems(store, 3000)
    assert.deepEqual(idsIn(await textOf(await store.list())).sort(), ids.toSorted())
    const { items, itemBytes, memoryBytes } = await store.size()
    assert.equal(items, 3000)
    assert.equal(itemBytes, Buffer.concat(ids.map((id) => itemText(id, 10))).length)
    const infos = await masters('info', 'memory')
    const used = infos.map((info) => Number(/^used_memory:(\d+)/m.exec(info)?.[1]))
    assert.ok(memoryBytes > Math.max(...used) * 2, `${memoryBytes} of ${used}`)
  })

  test('the store is unhealthy while one of the masters refuses changes', async () => {
    const store = await open()
    for (const [replicas, isHealthy] of [
      ['9', false],
      ['0', true],
    ] as const) {
      await cluster.nodes[0]?.command('config', 'set', 'min-replicas-to-write', replicas)
      await until('health changes', async () => (await store.healthy()) === isHealthy)
    }
  })

  test('in a cluster, the service needs only the rights that docs/how-to/redis.md gives it', async () => {
    await masters('acl', 'setuser', 'u', 'on', '>p', '~item-store:*', ...documentedRights())
    const url = cluster.url.replace('://', '://u:p@')
    await assertServes(await serviceOn(url, patient))
  })

  test('the URL of a cluster for one server, or the reverse, makes the service unhealthy with the cause in the log', async () => {
    const port = await freePort()
    await startedRedis('--port', String(port))
    const clusterOfOne = await serviceOn(`redis+cluster://127.0.0.1:${port}`, patient)
    const oneOfCluster = await serviceOn(`redis://127.0.0.1:${cluster.nodes[0]?.port}`, patient)
    for (const service of [clusterOfOne, oneOfCluster]) await assertUnhealthy(service)
    assert.match(causeIn(clusterOfOne), /cluster support disabled/)
    assert.match(causeIn(oneOfCluster), /belongs to a cluster: STORE_URL/)
  })
})
