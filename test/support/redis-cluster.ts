/** Starts a Redis cluster of three masters and three replicas for a test. */

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { freePort, until } from './process.js'
import { isInstalled, ownRedis } from './redis.js'

export type ClusterNode = ReturnType<typeof nodeAt>

const count = 6
const timeouts = { beginning: '1000', later: '60000' } // in ms; busy nodes must not count as down

export async function ownClusterNode(...settings: string[]): Promise<ClusterNode> {
  return nodeAt(await freePort(), await freePort(), settings)
}

/** Returns a cluster that has not been started. It stops when the test or test file ends. */
export async function ownCluster(...settings: string[]) {
  const ports = await Promise.all(Array.from({ length: 2 * count }, freePort)) // in one call, so that all ports differ
  const nodes = Array.from({ length: count }, (_, n) =>
    nodeAt(ports[n] ?? 0, ports[count + n] ?? 0, settings),
  )
  const urlHosts = [nodes[1], nodes[3]].map((node) => `127.0.0.1:${node?.port}`)

  /** Waits until nodes (by default, all) report that slots are served and replicas connected. */
  async function isWhole(some: readonly ClusterNode[] = nodes): Promise<void> {
    for (const node of some) {
      await until(`the node at port ${node.port} sees the whole cluster`, async () => {
        if (!(await node.command('cluster', 'info')).includes('cluster_state:ok')) return false
        const replication = await node.command('info', 'replication')
        return /role:master/.test(replication) || /master_link_status:up/.test(replication)
      })
    }
  }

  async function setAll(name: string, value: string): Promise<void> {
    await Promise.all(nodes.map((node) => node.command('config', 'set', name, value)))
  }

  return {
    /** `STORE_URL` with the addresses of one master and one replica. */
    url: `redis+cluster://${urlHosts.join(',')}`,
    /** The three masters, then the three replicas. */
    nodes,
    isWhole,
    setAll,

    /** Starts all nodes, and waits until the cluster works. Does nothing without `redis-server`. */
    async start(): Promise<void> {
      if (!isInstalled) return
      await Promise.all(nodes.map((node) => node.start()))
      const addresses = nodes.map(({ port, busPort }) => `127.0.0.1:${port}@${busPort}`)
      const options = ['--cluster-replicas', '1', '--cluster-yes']
      await promisify(execFile)('redis-cli', ['--cluster', 'create', ...addresses, ...options])
      await isWhole()
      await until('all nodes know the replicas', async () => {
        const seen = await Promise.all(nodes.map((node) => node.command('cluster', 'nodes')))
        return seen.every((lines) => lines.split('slave').length === 4)
      })
      await setAll('cluster-node-timeout', timeouts.later)
      // Failovers are allowed only from now on: on a busy machine, one could happen during startup.
      await setAll('cluster-replica-no-failover', 'no')
    },
  }
}

export function idOf(node: ClusterNode): Promise<string> {
  return node.command('cluster', 'myid')
}

function nodeAt(port: number, busPort: number, settings: string[]) {
  const own = ownRedis(
    ...['--port', String(port), '--bind', '127.0.0.1', '--cluster-announce-ip', '127.0.0.1'],
    ...['--cluster-enabled', 'yes', '--cluster-port', String(busPort)],
    ...['--cluster-node-timeout', timeouts.beginning, '--repl-diskless-sync-delay', '0'],
    ...['--cluster-replica-no-failover', 'yes'],
    ...settings,
  )
  return { ...own, port, busPort }
}
