/** Opens what keeps the items: one server, the primary that sentinels name, or a cluster. @module */

import { clusterAddress, sentinelAddress } from './address.js'
import type { Command, RedisReply, Reply } from './client.js'
import { Cluster, type ClusterOptions } from './cluster.js'
import { RedisConnection } from './connection.js'
import { ReachabilityLog } from './reachability-log.js'
import { WatchedPrimary } from './watched-primary.js'

export interface Servers {
  /** Resolves once the first attempt to connect has succeeded or failed; there will be others. */
  readonly firstAttempt: Promise<void>
  /** Whether every server that items can be on is connected. */
  readonly isReady: boolean
  /** Whether a reply of unknown length may be asked of the server that has the key. */
  hasRoom(key: string): boolean
  /** Sends a command to the server that has the key. @throws {Error} for `storeError`, after a bounded time. */
  send(command: Command, key: string): Promise<RedisReply>
  /**
   * Sends commands that change nothing, each with its key, as one call to each server that has some of the keys.
   * @throws {Error} like `send`, but not for error replies.
   */
  sendTogether(commands: readonly Command[], keys: readonly string[]): Promise<readonly Reply[]>
  /** Returns the server that has the key; only a cluster has this method. */
  serverOf?(key: string): { readonly isReady: boolean } | undefined
  close(): void
}

interface ServersOptions extends ClusterOptions {
  /** As in `STORE_URL`. */
  readonly url: string
  /** Called when the connection to a single server is lost or cannot be made. */
  readonly onLost: () => void
}

export function openServers({ url, onLost, ...options }: ServersOptions): Servers {
  const cluster = clusterAddress(url)
  if (cluster !== undefined) return new Cluster(cluster, options)
  const log = new ReachabilityLog(options.log)
  const reachability = {
    lost(error: unknown) {
      log.lost(error)
      onLost()
    },
    found: () => log.found(),
  }
  const sentinels = sentinelAddress(url)
  if (sentinels !== undefined) return new WatchedPrimary(sentinels, { ...options, reachability })
  return new RedisConnection({ url: () => url, isClusterNode: false, reachability, ...options })
}
