/** Tests a service while nodes of its Redis cluster fail, join, leave or move slots. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { slotOf } from '../../../src/store/redis/slots.js'
import { create, itemOf, stored } from '../../conformance/expect.js'
import { isPending, readWaiting, tagOf } from '../../decisions/expect.js'
import {
  assertNothingLost,
  servedLoad,
  successesOf,
  untilMoreIsServed,
} from '../../support/item-load.js'
import { until } from '../../support/process.js'
import { describeWithRedis } from '../../support/redis.js'
import { type ClusterNode, idOf, ownCluster, ownClusterNode } from '../../support/redis-cluster.js'
import {
  assertDown,
  assertOneOutage,
  assertServes,
  assertUnavailable,
  assertUnhealthy,
  linesBeforeOutage,
  noChange,
  patient,
  serviceOn,
  unknownOutcome,
} from './expect.js'

const nodeTimeout = '1500' // ms without a response after which a replica takes over
const replicationLag = 2000 // ms until an acknowledged write has reached the replica

const slotsToMove = 4
const unknownItem = '/items/00000000-0000-4000-8000-000000000000' // its id belongs into the first bucket

const cluster = await ownCluster('--appendonly', 'yes')
/** This service is never restarted, so it must recover from each fault by itself. */
const service = await serviceOn(cluster.url)

describeWithRedis('faults of a cluster', () => {
  test('a service starts before its cluster: it serves once the cluster is up', async () => {
    await assertDown(service)
    await cluster.start()
    await assertServes(service)
  })

  test('a new node takes over slots, gives them back and leaves: no request fails and no item is lost', async () => {
    const [node, from] = [await addNode(), nodeAt(0)]
    const load = await servedLoad(service)
    const items = await itemsOf(from, slotsToMove)
    for (const [giver, taker] of [[from, node] as const, [node, from] as const]) {
      for (const { id, slot } of items) {
        await moveSlot(slot, giver, taker, async () => {
          const data = { of: taker.port }
          itemOf(await service.call('PUT', `/items/${id}`, { data }), 200)
          assert.equal((await stored(service, id))?.of, taker.port)
        })
      }
      await untilMoreIsServed(load)
    }
    const asked = /cmdstat_asking:calls=(\d+)/.exec(await node.command('info', 'commandstats'))?.[1]
    assert.ok(Number(asked) > 0, 'no command was redirected for a slot that was being moved')
    await untilItHasNoSlots(node)
    // The service learns which node now has an item's slot only from a request for the item.
    for (const { id } of items) assert.ok(await stored(service, id))
    await until('the service has closed its connection to the node', async () => {
      const clients = (await node.command('client', 'list', 'type', 'normal')).split('\n')
      // Only redis-cli, and the node from which slots were moved, may still be connected.
      return clients.every((line) => / addr=\/| cmd=restore-asking /.test(line))
    })
    const lists = service.log.flatMap(({ servers }) => (servers ? [String(servers)] : []))
    const isNamed = lists.map((list) => list.includes(`:${node.port}`))
    assert.ok(isNamed.includes(true) && isNamed.at(-1) === false, lists.join('\n'))
    await forget(node)
    await node.kill('SIGKILL')
    await assertNothingLost(load)
    assert.ok(Math.max(...load.statuses.keys()) < 500)
    assert.equal((await service.request('GET', '/health')).status, 200)
  })

  test('a node leaves before the service knows that its slot has moved: the next read waits and succeeds', async () => {
    const [node, from] = [await addNode(), nodeAt(0)]
    const [item = assert.fail()] = await itemsOf(from, 1)
    await moveSlot(item.slot, from, node)
    await until('the service sends reads to the new node', async () => {
      assert.ok(await stored(service, item.id))
      return (await node.command('info', 'commandstats')).includes('cmdstat_hget:')
    })
    await moveSlot(item.slot, node, from)
    await untilItHasNoSlots(node)
    await forget(node)
    // Until the nodes reply again, the service cannot read the new slot table.
    await Promise.all(cluster.nodes.map((one) => one.command('client', 'pause', '600', 'all')))
    await node.kill('SIGKILL')
    await until('the log reports the loss of the node', () =>
      service.log.some(({ server }) => server === `127.0.0.1:${node.port}`),
    )
    assert.ok(await stored(service, item.id))
  })

  test('a replica takes over after CLUSTER FAILOVER: no request gets a 503, and no item is lost', async () => {
    const replica = nodeAt(3)
    const load = await servedLoad(service)
    assert.equal(await replica.command('cluster', 'failover'), 'OK')
    await until('the replica is a master', async () => (await roleOf(replica)) === 'master')
    await cluster.isWhole()
    await assertNothingLost(load)
    assert.ok(!load.statuses.has(503))
  })

  test('a service can connect to a cluster with a URL that names only a replica', async () => {
    await assertServes(await serviceOn(`redis+cluster://127.0.0.1:${nodeAt(4).port}`))
  })

  test('a master is paused: its items get a 503 until its replica takes over, and other items are served', async () => {
    await cluster.setAll('cluster-node-timeout', nodeTimeout)
    const items = await Promise.all(Array.from({ length: 60 }, () => create(service, {})))
    const master = await aMaster()
    await master.kill('SIGSTOP')
    try {
      const replaces = items.map(({ id }) => service.call('PUT', `/items/${id}`, { data: {} }))
      const refused = (await Promise.all(replaces)).filter(({ status }) => status === 503)
      assert.ok(refused.length > 0 && refused.length < 40, `${refused.length} of 60 refused`)
      for (const { text } of refused) assert.match(text, unknownOutcome)
      await assertUnhealthy(service)
      await assertServes(service)
    } finally {
      await master.kill('SIGCONT')
    }
    await cluster.isWhole()
    for (const { id } of items) assert.ok(await stored(service, id))
  })

  test('a master is killed under load: requests succeed or get a 503, until its replica takes over', async (t) => {
    const master = await aMaster()
    const load = await servedLoad(service, { mayLose: true })
    const lines = await linesBeforeOutage(service)
    const killed = performance.now()
    await master.kill('SIGKILL')
    await until('requests are refused', () => (load.statuses.get(503) ?? 0) > 0)
    await assertServes(service)
    const recovered = performance.now()
    await untilMoreIsServed(load)
    await assertOneOutage(service, lines)
    await load.stop()
    const lost = await load.lost()
    const seconds = (time: number) => `${((time - killed) / 1000).toFixed(1)} s`
    t.diagnostic(
      `last 503 after ${seconds(load.lastRefused())}, healthy after ${seconds(recovered)}`,
    )
    t.diagnostic(`${lost.length} of ${successesOf(load)} acknowledged writes lost`)
    const early = lost.filter(({ acknowledged }) => killed - acknowledged >= replicationLag)
    assert.deepEqual(early, [], 'a write that the replica must have had is lost')
    await master.start()
    await cluster.isWhole()
  })

  test('a service starts while the master with the record is down: it serves items on other masters, and waits for these go on', async () => {
    await cluster.setAll('cluster-require-full-coverage', 'no')
    await cluster.isWhole()
    const master = await masterOf(slotOf('item-store:{store}'))
    const gone = [master, await replicaOf(master)]
    const hosts = cluster.nodes.filter((node) => !gone.includes(node))
    const STORE_URL = `redis+cluster://${hosts.map(({ port }) => `127.0.0.1:${port}`)}`
    const items = await Promise.all(Array.from({ length: 12 }, () => create(service, {})))
    const waits = await Promise.all(
      ['', ...items.map(({ id }) => `/${id}`)].map(async (path) => {
        const tag = await tagOf(service, `/items${path}`)
        return { path, answer: readWaiting(service, `/items${path}`, tag, 'wait=60') }
      }),
    )
    const [list = assert.fail(), ...ofItems] = waits
    for (const { answer } of waits) assert.ok(await isPending(answer))
    await Promise.all(gone.map((node) => node.kill('SIGKILL')))
    const late = await serviceOn(STORE_URL)
    const wrong = await serviceOn(STORE_URL, { STORE_BUCKETS: '512' })
    const creates = Array.from({ length: 60 }, () => late.call('POST', '/items', { data: {} }))
    const created = (await Promise.all(creates)).filter(({ status }) => status === 201).length
    assert.ok(created > 20 && created < 60, `${created} of 60 created`)
    const deletes = ofItems.map(async ({ path, answer }) => {
      const isDeleted = (await late.call('DELETE', `/items${path}`)).status === 204
      if (isDeleted) assert.equal((await answer).status, 404)
      return isDeleted
    })
    assert.equal(new Set(await Promise.all(deletes)).size, 2)
    await assertUnhealthy(late)
    await Promise.all(gone.map((node) => node.start()))
    assert.equal((await list.answer).status, 200)
    await assertServes(late)
    await assertServes(service)
    const mismatches = () =>
      wrong.log.filter(
        ({ msg, cause }) => /unhealthy$/.test(`${msg}`) && /^STORE_B/.test(`${cause}`),
      )
    await until('the wrong number of buckets is logged', async () => {
      await wrong.call('GET', '/items')
      return mismatches().length > 0
    })
    await assertDown(wrong)
    assert.equal(mismatches().length, 1)
  })

  test('a slot has no master for a moment: requests for its items wait, and are served', async () => {
    const late = await serviceOn(cluster.url, patient)
    const putBack = await takeAwaySlot()
    const answers = Array.from({ length: 20 }, () => late.call('PUT', unknownItem, { data: {} }))
    await delay(500)
    await putBack()
    for (const answer of await Promise.all(answers)) assert.equal(answer.status, 404, answer.text)
  })

  test('a slot has no master: its items get a 503, and the log has the cause', async () => {
    await assertServes(service)
    const putBack = await takeAwaySlot()
    const { log, call } = service
    const logged = log.length
    await assertUnhealthy(service)
    assertUnavailable(await call('PUT', unknownItem, { data: {} }), noChange)
    const lines = () => log.slice(logged).filter(({ msg }) => /healthy/.test(String(msg)))
    assert.deepEqual(
      lines().map(({ cause }) => cause),
      ['CLUSTERDOWN Hash slot not served'],
    )
    await putBack()
    await assertServes(service)
    assert.equal((await call('PUT', unknownItem, { data: {} })).status, 404)
    await until('the log says that the store is healthy', async () => {
      await service.request('GET', '/health')
      return lines()[1]?.msg === 'the store is healthy again'
    })
  })

  /** Takes the slot of the first bucket from its master, and returns a function that gives it back. */
  async function takeAwaySlot(): Promise<() => Promise<unknown>> {
    await cluster.setAll('cluster-require-full-coverage', 'no')
    await cluster.isWhole()
    const slot = slotOf('item-store:{0}')
    const master = await masterOf(slot)
    await master.command('cluster', 'delslots', String(slot))
    return () => master.command('cluster', 'addslots', String(slot))
  }

  function nodeAt(place: number): ClusterNode {
    return cluster.nodes[place] ?? assert.fail()
  }

  async function masterOf(slot: number): Promise<ClusterNode> {
    for (const node of cluster.nodes) if ((await slotsOf(node))(slot)) return node
    assert.fail(`no master has slot ${slot}`)
  }

  async function aMaster(): Promise<ClusterNode> {
    const roles = await Promise.all(cluster.nodes.map(roleOf))
    return nodeAt(roles.indexOf('master'))
  }

  async function replicaOf(master: ClusterNode): Promise<ClusterNode> {
    const info = await master.command('info', 'replication')
    const port = /^slave0:.*?port=(\d+)/m.exec(info)?.[1]
    return cluster.nodes.find((node) => String(node.port) === port) ?? assert.fail(info)
  }
})

async function roleOf(node: ClusterNode): Promise<string | undefined> {
  return /^role:(\w+)/m.exec(await node.command('info', 'replication'))?.[1]
}

/** Returns a function that checks whether a slot belongs to the node, which must have a single range of slots. */
async function slotsOf(node: ClusterNode): Promise<(slot: number) => boolean> {
  const view = await node.command('cluster', 'nodes')
  const [, first, last] = /myself.* (\d+)-(\d+)/.exec(view) ?? []
  return (slot) => slot >= Number(first) && slot <= Number(last)
}

async function addNode(): Promise<ClusterNode> {
  // By default, a node without slots becomes a replica.
  const node = await ownClusterNode('--cluster-allow-replica-migration', 'no')
  await node.start()
  const address = ['127.0.0.1', String(node.port), String(node.busPort)]
  for (const other of cluster.nodes) await other.command('cluster', 'meet', ...address)
  await until('all nodes know the new node', async () => {
    const known = await Promise.all(cluster.nodes.map((one) => one.command('cluster', 'info')))
    return known.every((info) => info.includes('cluster_known_nodes:7'))
  })
  await cluster.isWhole([node])
  return node
}

async function untilItHasNoSlots(node: ClusterNode): Promise<void> {
  const line = new RegExp(`^${await idOf(node)} .* connected$`, 'm') // the node's slots would follow `connected`
  await until('all nodes know that it has no slots', async () => {
    const views = await Promise.all(cluster.nodes.map((one) => one.command('cluster', 'nodes')))
    return views.every((view) => line.test(view))
  })
}

async function forget(node: ClusterNode): Promise<void> {
  const id = await idOf(node)
  for (const other of cluster.nodes) await other.command('cluster', 'forget', id)
}

async function itemsOf(node: ClusterNode, count: number): Promise<{ id: string; slot: string }[]> {
  const isOwn = await slotsOf(node)
  const items = new Map<number, string>()
  await until('there are items in several slots', async () => {
    const { id } = await create(service, {})
    const slot = slotOf(`item-store:{${Number.parseInt(id.slice(0, 4), 16) % 256}}`)
    if (isOwn(slot)) items.set(slot, id)
    return items.size === count
  })
  return [...items].map(([slot, id]) => ({ id, slot: String(slot) }))
}

/** @param between called when the slot's keys have moved to the new node, but the slot itself has not. */
async function moveSlot(
  slot: string,
  from: ClusterNode,
  to: ClusterNode,
  between = async () => {},
): Promise<void> {
  const [fromId, toId] = [await idOf(from), await idOf(to)]
  const done = async (node: ClusterNode, ...command: string[]) =>
    assert.match(await node.command(...command), /^(OK|NOKEY)$/, command.join(' '))

  await done(to, 'cluster', 'setslot', slot, 'importing', fromId)
  await done(from, 'cluster', 'setslot', slot, 'migrating', toId)
  const keys = await from.command('cluster', 'getkeysinslot', slot, '10')
  if (keys !== '') {
    const target = ['127.0.0.1', String(to.port), '', '0', '20000', 'keys']
    await done(from, 'migrate', ...target, ...keys.split('\n'))
  }
  await between()
  for (const node of [to, from]) await done(node, 'cluster', 'setslot', slot, 'node', toId)
}
